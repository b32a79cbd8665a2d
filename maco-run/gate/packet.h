// One message over the SEQPACKET control socket between maco-run and its guardian.
// Protocol: docs/formats/gate.md. Source: unix(7), SCM_RIGHTS and SCM_CREDENTIALS.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "libcommon/base/byte_codec.h"
#include "libcommon/base/result.h"
#include "libcommon/os/fd.h"

namespace maco::run {

// The first byte of every packet.
enum class PacketKind : std::uint8_t {
  kLaunch = 'L',      // host: descriptors (stdin, stdout, stderr, plan, gate)
  kKill = 'K',        // host: end the target and all that it started
  kLeave = 'Q',       // host: the counters are read, the outer guardian may go
  kReport = 'R',      // guardian: a piece of the report
  kAtGate = 'G',      // guardian: the report is complete, the target waits
  kExecFailed = 'X',  // guardian: u32 errno of execve
  kFailed = 'F',      // guardian: string stage, u32 errno; set-up failed, nothing was started
  kEnded = 'E',       // guardian: u32 wait status, u32 processes that the target left behind
};

inline constexpr std::size_t kMaxPacketBytes = 64UL << 10U;

struct Packet {
  bool end_of_stream = false;
  PacketKind kind = PacketKind::kFailed;
  Bytes body;
  std::vector<UniqueFd> descriptors;
  pid_t sender = 0;  // as the kernel says, in our PID namespace; 0 without SO_PASSCRED
};

// Errors: kLimit, kIo (EPIPE: the peer is gone).
Result<void> SendPacket(int socket, PacketKind kind, std::span<const std::uint8_t> body,
                        std::span<const int> descriptors = {});

// Waits for one packet. A peer that is gone, or an empty packet, is no error: end_of_stream is set.
// Errors: kInvalid (a packet that was cut), kIo.
Result<Packet> ReceivePacket(int socket);

}  // namespace maco::run

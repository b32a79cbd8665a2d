// Failure and report packets.
// Contract: maco-run/guardian/control.h.
#include "maco-run/guardian/control.h"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "maco-run/gate/packet.h"

namespace maco::run {
namespace {

[[noreturn]] void FailWith(std::string_view stage, std::string_view detail, int os_errno) {
  ByteWriter out;
  out.String(std::string(stage) + ": " + std::string(detail));
  out.U32(static_cast<std::uint32_t>(os_errno));
  // Nobody is left to tell when this fails: the exit says the rest.
  [[maybe_unused]] const auto sent = SendPacket(kControlFd, PacketKind::kFailed, out.bytes());
  _exit(kExitSetupFailed);
}

}  // namespace

void FailSetup(std::string_view stage, const Error& error) {
  FailWith(stage, error.message, error.os_errno);
}

void FailSetup(std::string_view stage, int os_errno) {
  FailWith(stage, OsError(os_errno, "failed").message, os_errno);
}

void SendReport(std::span<const std::uint8_t> bytes) {
  constexpr std::size_t kPiece = kMaxPacketBytes / 2;
  while (!bytes.empty()) {
    const std::size_t size = std::min(kPiece, bytes.size());
    if (!SendPacket(kControlFd, PacketKind::kReport, bytes.first(size))) {
      _exit(kExitHostGone);
    }
    bytes = bytes.subspan(size);
  }
  if (!SendPacket(kControlFd, PacketKind::kAtGate, {})) {
    _exit(kExitHostGone);
  }
}

}  // namespace maco::run

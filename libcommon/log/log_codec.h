// Encodes, decodes and authenticates the parts of one log: header, heads, record frames. No I/O.
// Contract: docs/formats/log.md.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "libcommon/auth/mac.h"
#include "libcommon/base/byte_codec.h"
#include "libcommon/base/result.h"
#include "libcommon/log/log_format.h"

namespace maco {

using LogBlock = std::array<std::uint8_t, kLogBlockBytes>;

// Everything that the MACs of one log need. Movable; holds a subkey. Not thread-safe, as KeyedMac.
class LogCodec {
 public:
  // For a new log. Errors: kInvalid (an id is empty or too long).
  static Result<LogCodec> ForNewLog(const Key& repository_key, const LogIdentity& identity,
                                    const LogId& log_id);
  // From the header of an existing log. Errors: kCorrupt, kUnsupported (a later version), kInvalid
  // (as above).
  static Result<LogCodec> FromHeader(const LogBlock& header, const Key& repository_key,
                                     const LogIdentity& identity);

  // The epoch that a header claims, before its MAC is checked: which key to check it with.
  // Errors: kCorrupt, kUnsupported.
  static Result<std::uint32_t> EpochOf(const LogBlock& header);

  const LogId& log_id() const { return log_id_; }
  const LogBlock& header() const { return header_; }
  const Mac& header_mac() const { return header_mac_; }

  // A head of the empty log; `number` is 0 or 1.
  LogHead EmptyHead(std::uint64_t number) const;

  std::array<std::uint8_t, kHeadBytes> EncodeHead(const LogHead& head) const;
  // Nothing if the block is not a verified head of slot `slot` (0 or 1) within the limits.
  std::optional<LogHead> DecodeHead(const LogBlock& block, unsigned slot) const;

  // Appends the frame of one record to `out` and returns its MAC; frame.mac is ignored.
  Mac AppendFrame(const FrameHeader& frame, const Mac& previous,
                  std::span<const std::uint8_t> payload, Bytes& out) const;
  // Reads 64 bytes; nothing if they have not the form of a frame. Verifies no MAC.
  static std::optional<FrameHeader> DecodeFrame(std::span<const std::uint8_t> bytes);
  bool VerifyFrame(const FrameHeader& frame, const Mac& previous,
                   std::span<const std::uint8_t> payload) const;

 private:
  LogCodec(const Key& key, LogIdentity identity, const LogId& log_id);
  static Result<LogCodec> Make(const Key& repository_key, const LogIdentity& identity,
                               const LogId& log_id);
  void FillHeader();
  Mac HeadMac(std::span<const std::uint8_t> fields) const;
  Mac FrameMac(std::span<const std::uint8_t> fields, const Mac& previous,
               std::span<const std::uint8_t> payload) const;

  KeyedMac mac_;
  LogIdentity identity_;
  LogId log_id_;
  LogBlock header_{};
  Mac header_mac_{};
};

}  // namespace maco

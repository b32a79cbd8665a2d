// Constants and plain fields of the authenticated log, version 1.
// Contract: docs/formats/log.md.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "libcommon/auth/mac.h"

namespace maco {

// What a log belongs to. Both texts are covered by every MAC in it.
struct LogIdentity {
  std::string repository_id;  // 1 to 64 bytes
  std::string object_id;      // 1 to 255 bytes, as "steps/<name>"
  std::uint32_t epoch = 0;    // of the repository's key that authenticates it
};

using LogId = std::array<std::uint8_t, 16>;

inline constexpr std::uint32_t kLogVersion = 1;
inline constexpr std::size_t kLogBlockBytes = 4096;  // header and slots, one block each
inline constexpr std::uint64_t kFirstRecordOffset = 3 * kLogBlockBytes;
inline constexpr std::size_t kHeadBytes = 96;         // a slot without its zeros
inline constexpr std::size_t kFrameHeaderBytes = 64;  // a record without its payload
inline constexpr std::size_t kFrameMacOffset = 32;

inline constexpr std::size_t kMaxRepositoryIdBytes = 64;
inline constexpr std::size_t kMaxObjectIdBytes = 255;
inline constexpr std::size_t kMaxPayloadBytes = std::size_t{1} << 20U;  // 1 MiB
inline constexpr std::size_t kMaxBatchRecords = 1024;
inline constexpr std::size_t kMaxBatchBytes = std::size_t{4} << 20U;    // 4 MiB, frames included
inline constexpr std::uint64_t kMaxLogBytes = std::uint64_t{1} << 30U;  // 1 GiB, end of last record
inline constexpr unsigned kMaxUnnamedBatches = 2;

// Heads 0 and 1 name the empty log, so the first batch has this number.
inline constexpr std::uint64_t kFirstBatch = 2;

struct LogHead {
  std::uint64_t number = 0;
  std::uint64_t sequence = 0;  // of the last record, 0 if none
  std::uint64_t end = kFirstRecordOffset;
  Mac mac{};  // of the last record; the header MAC if none
};

struct FrameHeader {
  std::uint32_t payload_bytes = 0;
  std::uint64_t sequence = 0;
  std::uint64_t batch = 0;
  std::uint32_t left = 0;  // records of the batch that follow
  Mac mac{};
};

}  // namespace maco

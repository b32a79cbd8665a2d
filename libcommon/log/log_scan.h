// Reads one log file: its heads, what follows them, and record after record, verifying MACs.
// Contract: docs/formats/log.md ("Valid if and only if", "Opening for append").
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "libcommon/base/byte_codec.h"
#include "libcommon/base/result.h"
#include "libcommon/log/log_codec.h"
#include "libcommon/log/log_format.h"

namespace maco {

enum class LogVerdict {
  kClean,        // the newest head names the last record
  kHeadLag,      // 1 or 2 whole batches follow it
  kInFlight,     // a writer is active; what follows the head was not looked at
  kTornTail,     // something else follows it
  kDamagedHead,  // one slot does not verify, or the two are not consecutive
  kNoHead,       // neither slot verifies
  kStaleHead,    // more batches follow than a crash can leave: older heads were put back
  kTruncated,    // the file ends before the newest head says
  kChanged,      // a record, or its order, is not what the heads and MACs say
};

// "clean", "head-lag", ... as `git maco journal verify` prints it.
std::string_view VerdictName(LogVerdict verdict);

// A place in a log between two records.
struct LogPosition {
  std::uint64_t sequence = 0;  // of the record before
  std::uint64_t batch = kFirstBatch - 1;
  std::uint32_t left = 0;  // records of the batch that must follow
  std::uint64_t batch_start = kFirstRecordOffset;
  std::uint64_t end = kFirstRecordOffset;
  Mac mac{};

  static LogPosition At(const LogHead& head) {
    return {head.sequence, head.number, 0, head.end, head.end, head.mac};
  }
  LogHead Head() const { return {batch, sequence, end, mac}; }
  bool Is(const LogHead& head) const;
};

struct LogRecord {
  LogPosition after;
  std::span<const std::uint8_t> payload;  // valid until the next call to the scan
};

// The heads of a log and what follows them.
struct LogEnds {
  LogVerdict verdict = LogVerdict::kClean;
  std::uint64_t offset = 0;  // where the verdict's cause lies; the cut for kTornTail
  LogHead older;             // both only if the verdict is not about the heads
  LogHead newer;
  std::vector<LogHead> unnamed;  // the heads that the batches after `newer` would have
};

// kTornTail or kCorrupt, with the offset and the command that helps; for verdicts that a log may
// not have when it is opened.
Error VerdictError(const LogEnds& ends);

// Borrows the descriptor. Not thread-safe.
class LogScan {
 public:
  // Reads the header. Errors: kCorrupt, kUnsupported, kInvalid, kIo.
  static Result<LogScan> Open(int fd, const Key& repository_key, const LogIdentity& identity);

  const LogCodec& codec() const { return codec_; }
  LogCodec TakeCodec() { return std::move(codec_); }
  LogPosition Start() const;

  // Verifies heads and last named batch; what follows them unless `skip_tail`. Errors: kIo.
  Result<LogEnds> CheckEnds(bool skip_tail);

  // The record after `from`, with its MAC verified; nothing if there is no such record.
  // Errors: kIo.
  Result<std::optional<LogRecord>> NextRecord(const LogPosition& from);

  // The same without its MAC verified, and none if the record does not lie within `bytes` that
  // begin at offset from.end of the file.
  static std::optional<LogRecord> FramedRecord(const LogPosition& from,
                                               std::span<const std::uint8_t> bytes);
  // Lets the scan read `bytes`, which are those of the file from `offset` on, before the file
  // itself. Returns the buffer that it had.
  Bytes Adopt(Bytes bytes, std::uint64_t offset) {
    buffer_offset_ = offset;
    return std::exchange(buffer_, std::move(bytes));
  }

  // A head for each slot that verifies by itself. Errors: kIo.
  Result<std::array<std::optional<LogHead>, 2>> ReadSlots();

  // The position after the whole batch that follows `from`; nothing if there is none. Errors: kIo.
  Result<std::optional<LogPosition>> NextBatch(const LogPosition& from);

  // Whether only zeros follow `offset`. Errors: kIo.
  Result<bool> ZerosFrom(std::uint64_t offset) const;

  // Size of the file in bytes. Errors: kIo.
  Result<std::uint64_t> Size() const;

 private:
  LogScan(int fd, LogCodec codec) : fd_(fd), codec_(std::move(codec)) {}
  // `length` bytes at `offset`, fewer at the end of the file.
  Result<std::span<const std::uint8_t>> Window(std::uint64_t offset, std::size_t length);
  Result<void> CheckTail(LogEnds& ends);

  int fd_;
  LogCodec codec_;
  Bytes buffer_;
  std::uint64_t buffer_offset_ = 0;
};

}  // namespace maco

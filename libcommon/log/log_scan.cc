// Buffered reading and judging of a log file.
// Contract: libcommon/log/log_scan.h, docs/formats/log.md.
#include "libcommon/log/log_scan.h"

#include <algorithm>
#include <cstring>
#include <future>
#include <limits>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "libcommon/os/directory.h"
#include "libcommon/os/fd.h"

namespace maco {
namespace {

constexpr std::size_t kWindowBytes = std::size_t{256} << 10U;  // 256 KiB
constexpr std::size_t kZeroBytes = std::size_t{64} << 10U;
constexpr std::uint64_t kSharedZeros = std::uint64_t{8} << 20U;  // from here on by two threads
constexpr std::uint64_t kToTheEnd = std::numeric_limits<std::uint64_t>::max();

// Why a verdict is an error, and what resolves it.
struct Reason {
  const char* text;
  const char* remedy;
};

Reason ReasonOf(LogVerdict verdict) {
  switch (verdict) {
    case LogVerdict::kTornTail:
      return {"an append was cut short", "run 'git maco journal repair --cut-torn-tail'"};
    case LogVerdict::kDamagedHead:
      return {"one of its two heads is damaged", "run 'git maco journal repair'"};
    case LogVerdict::kNoHead:
      return {"neither of its heads verifies", "restore it from a backup"};
    case LogVerdict::kStaleHead:
      return {"its heads are older than its records", "find out who put old state back"};
    case LogVerdict::kTruncated:
      return {"it is shorter than its head says", "restore it from a backup"};
    default:
      return {"a record does not verify", "run 'git maco journal verify', restore from a backup"};
  }
}

// A table of thousands of rows keeps tens of megabytes of zeros behind it (docs/formats/store.md),
// so they are compared by the page.
bool AllZero(std::span<const std::uint8_t> bytes) {
  static constexpr LogBlock kZeros{};
  while (!bytes.empty()) {
    const std::size_t step = std::min(bytes.size(), kZeros.size());
    if (std::memcmp(bytes.data(), kZeros.data(), step) != 0) {
      return false;
    }
    bytes = bytes.subspan(step);
  }
  return true;
}

// Whether only zeros lie from `from` to `to`, as far as there is a file.
Result<bool> ZerosIn(int fd, std::uint64_t from, std::uint64_t to) {
  std::vector<std::uint8_t> buffer(
      static_cast<std::size_t>(std::min<std::uint64_t>(kZeroBytes, to - from)));
  while (from < to) {
    const auto wanted = std::span(buffer).first(
        static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), to - from)));
    std::size_t got = 0;
    MACO_ASSIGN(got, PreadFull(fd, wanted, from));
    if (!AllZero(wanted.first(got))) {
      return false;
    }
    if (got < wanted.size()) {
      return true;
    }
    from += got;
  }
  return true;
}

std::future<Result<bool>> ZerosElsewhere(int fd, std::uint64_t from) {
  try {
    return std::async(std::launch::async, ZerosIn, fd, from, kToTheEnd);
  } catch (const std::system_error&) {  // no thread is to be had: when it is asked for
    return std::async(std::launch::deferred, ZerosIn, fd, from, kToTheEnd);
  }
}

bool Consecutive(const LogHead& older, const LogHead& newer) {
  return older.number + 1 == newer.number && older.end <= newer.end &&
         older.sequence <= newer.sequence;
}

}  // namespace

std::string_view VerdictName(LogVerdict verdict) {
  switch (verdict) {
    case LogVerdict::kClean:
      return "clean";
    case LogVerdict::kHeadLag:
      return "head-lag";
    case LogVerdict::kInFlight:
      return "in-flight";
    case LogVerdict::kTornTail:
      return "torn-tail";
    case LogVerdict::kDamagedHead:
      return "damaged-head";
    case LogVerdict::kNoHead:
      return "no-head";
    case LogVerdict::kStaleHead:
      return "stale-head";
    case LogVerdict::kTruncated:
      return "truncated";
    case LogVerdict::kChanged:
      return "changed";
  }
  return "changed";
}

Error VerdictError(const LogEnds& ends) {
  const Reason reason = ReasonOf(ends.verdict);
  return MakeError(
      ends.verdict == LogVerdict::kTornTail ? Code::kTornTail : Code::kCorrupt,
      "a log does not verify at byte " + std::to_string(ends.offset) + ": " + reason.text,
      reason.remedy);
}

bool LogPosition::Is(const LogHead& head) const {
  return left == 0 && batch == head.number && sequence == head.sequence && end == head.end &&
         SameMac(mac, head.mac);
}

Result<LogScan> LogScan::Open(int fd, const Key& repository_key, const LogIdentity& identity) {
  LogBlock header{};
  std::size_t got = 0;
  MACO_ASSIGN(got, PreadFull(fd, header, 0));
  if (got < header.size()) {
    return Fail(Code::kCorrupt, "a log is shorter than its header", "restore it from a backup");
  }
  auto codec = LogCodec::FromHeader(header, repository_key, identity);
  if (!codec) {
    return Fail(std::move(codec).error());
  }
  return LogScan(fd, *std::move(codec));
}

LogPosition LogScan::Start() const {
  LogPosition start;
  start.mac = codec_.header_mac();
  return start;
}

Result<std::uint64_t> LogScan::Size() const {
  FileIdentity identity;
  MACO_ASSIGN(identity, IdentityOf(fd_));
  return identity.size;
}

Result<std::span<const std::uint8_t>> LogScan::Window(std::uint64_t offset, std::size_t length) {
  const bool inside =
      offset >= buffer_offset_ && offset + length <= buffer_offset_ + buffer_.size();
  if (!inside) {
    std::uint64_t size = 0;
    MACO_ASSIGN(size, Size());
    // No more than there is: memory that is touched costs more than a small log does.
    const std::uint64_t left = size > offset ? size - offset : 0;
    buffer_.resize(
        static_cast<std::size_t>(std::min<std::uint64_t>(std::max(length, kWindowBytes), left)));
    std::size_t got = 0;
    MACO_ASSIGN(got, PreadFull(fd_, buffer_, offset));
    buffer_.resize(got);
    buffer_offset_ = offset;
  }
  const auto skip = static_cast<std::size_t>(offset - buffer_offset_);
  return std::span<const std::uint8_t>(buffer_).subspan(skip,
                                                        std::min(length, buffer_.size() - skip));
}

std::optional<LogRecord> LogScan::FramedRecord(const LogPosition& from,
                                               std::span<const std::uint8_t> bytes) {
  const auto frame = LogCodec::DecodeFrame(bytes.first(std::min(bytes.size(), kFrameHeaderBytes)));
  if (!frame || frame->sequence != from.sequence + 1) {
    return std::nullopt;
  }
  LogRecord record;
  const bool same_batch = from.left > 0;
  record.after.batch_start = same_batch ? from.batch_start : from.end;
  if (frame->batch != (same_batch ? from.batch : from.batch + 1) ||
      (same_batch && frame->left != from.left - 1)) {
    return std::nullopt;
  }
  const std::size_t length = kFrameHeaderBytes + frame->payload_bytes;
  record.after.end = from.end + length;
  if (record.after.end > kMaxLogBytes ||
      record.after.end - record.after.batch_start > kMaxBatchBytes || bytes.size() < length) {
    return std::nullopt;
  }
  record.payload = bytes.subspan(kFrameHeaderBytes, frame->payload_bytes);
  record.after.sequence = frame->sequence;
  record.after.batch = frame->batch;
  record.after.left = frame->left;
  record.after.mac = frame->mac;
  return record;
}

Result<std::optional<LogRecord>> LogScan::NextRecord(const LogPosition& from) {
  std::span<const std::uint8_t> bytes;
  MACO_ASSIGN(bytes, Window(from.end, kFrameHeaderBytes));
  const auto frame = LogCodec::DecodeFrame(bytes);
  if (!frame) {
    return std::optional<LogRecord>();
  }
  MACO_ASSIGN(bytes, Window(from.end, kFrameHeaderBytes + frame->payload_bytes));
  auto record = FramedRecord(from, bytes);
  if (record && !codec_.VerifyFrame(*frame, from.mac, record->payload)) {
    record.reset();
  }
  return record;
}

Result<std::optional<LogPosition>> LogScan::NextBatch(const LogPosition& from) {
  LogPosition position = from;
  do {
    std::optional<LogRecord> record;
    MACO_ASSIGN(record, NextRecord(position));
    if (!record) {
      return std::optional<LogPosition>();
    }
    position = record->after;
  } while (position.left > 0);
  return std::optional(position);
}

Result<bool> LogScan::ZerosFrom(std::uint64_t offset) const {
  std::uint64_t size = 0;
  MACO_ASSIGN(size, Size());
  if (size < offset + kSharedZeros) {
    return ZerosIn(fd_, offset, kToTheEnd);
  }
  const std::uint64_t middle = offset + (size - offset) / 2;
  auto elsewhere = ZerosElsewhere(fd_, middle);
  const auto here = ZerosIn(fd_, offset, middle);
  const auto there = elsewhere.get();
  return here && *here ? there : here;
}

Result<std::array<std::optional<LogHead>, 2>> LogScan::ReadSlots() {
  std::array<std::optional<LogHead>, 2> slots;
  for (unsigned slot = 0; slot < 2; ++slot) {
    LogBlock block{};
    std::size_t got = 0;
    MACO_ASSIGN(got, PreadFull(fd_, block, kLogBlockBytes * (1 + slot)));
    slots.at(slot) = got == block.size() ? codec_.DecodeHead(block, slot) : std::nullopt;
  }
  return slots;
}

Result<LogEnds> LogScan::CheckEnds(bool skip_tail) {
  buffer_.clear();  // the file may have changed since the last look
  LogEnds ends;
  std::array<std::optional<LogHead>, 2> slots;
  MACO_ASSIGN(slots, ReadSlots());
  const auto& [even, odd] = slots;
  if (!even || !odd) {
    ends.verdict = even || odd ? LogVerdict::kDamagedHead : LogVerdict::kNoHead;
    ends.offset = kLogBlockBytes * (even ? 2 : 1);
    return ends;
  }
  ends.older = even->number < odd->number ? *even : *odd;
  ends.newer = even->number < odd->number ? *odd : *even;
  const bool empty = ends.newer.number < kFirstBatch;
  const auto allowed = [this](const LogHead& head) {
    return head.number >= kFirstBatch || LogPosition::At(codec_.EmptyHead(head.number)).Is(head);
  };
  if (!Consecutive(ends.older, ends.newer) || !allowed(ends.older) || !allowed(ends.newer)) {
    ends.verdict = LogVerdict::kDamagedHead;
    ends.offset = kLogBlockBytes * (1 + ends.older.number % 2);
    return ends;
  }
  std::uint64_t size = 0;
  MACO_ASSIGN(size, Size());
  if (ends.newer.end > size) {
    ends.verdict = LogVerdict::kTruncated;
    ends.offset = size;
    return ends;
  }
  if (!empty) {
    std::optional<LogPosition> last;
    MACO_ASSIGN(last, NextBatch(LogPosition::At(ends.older)));
    if (!last || !last->Is(ends.newer)) {
      ends.verdict = LogVerdict::kChanged;
      ends.offset = ends.older.end;
      return ends;
    }
  }
  if (skip_tail) {
    ends.verdict = LogVerdict::kInFlight;
    ends.offset = ends.newer.end;
    return ends;
  }
  MACO_TRY(CheckTail(ends));
  return ends;
}

Result<void> LogScan::CheckTail(LogEnds& ends) {
  LogPosition position = LogPosition::At(ends.newer);
  for (;;) {
    std::optional<LogPosition> next;
    MACO_ASSIGN(next, NextBatch(position));
    if (!next) {
      break;
    }
    if (ends.unnamed.size() == kMaxUnnamedBatches) {
      ends.verdict = LogVerdict::kStaleHead;
      ends.offset = ends.newer.end;
      return {};
    }
    position = *next;
    ends.unnamed.push_back(position.Head());
  }
  bool zeros = false;
  MACO_ASSIGN(zeros, ZerosFrom(position.end));
  ends.offset = position.end;
  ends.verdict = !zeros                 ? LogVerdict::kTornTail
                 : ends.unnamed.empty() ? LogVerdict::kClean
                                        : LogVerdict::kHeadLag;
  return {};
}

}  // namespace maco

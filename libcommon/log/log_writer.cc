// The write order of the authenticated log, and recovery of what a crash left.
// Contract: libcommon/log/log_writer.h, docs/formats/log.md.
#include "libcommon/log/log_writer.h"

#include <fcntl.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "libcommon/base/random_id.h"
#include "libcommon/log/log_scan.h"
#include "libcommon/os/atomic_file.h"
#include "libcommon/os/ofd_lock.h"

namespace maco {
namespace {

constexpr std::uint64_t kSmallStep = std::uint64_t{64} << 10U;  // 64 KiB
constexpr std::uint64_t kLargeStep = std::uint64_t{1} << 20U;   // 1 MiB
constexpr std::size_t kZeroBytes = std::size_t{64} << 10U;

// The size that a file gets which must hold `end` bytes.
std::uint64_t SizeFor(std::uint64_t end) {
  const std::uint64_t step = end < kLargeStep ? kSmallStep : kLargeStep;
  return (end + step - 1) / step * step;
}

Result<void> WriteZeros(int fd, std::uint64_t from, std::uint64_t to) {
  const Bytes zeros(kZeroBytes);
  while (from < to) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kZeroBytes, to - from));
    MACO_TRY(PwriteAll(fd, std::span(zeros).first(count), from));
    from += count;
  }
  return {};
}

Result<void> WriteSlot(int fd, const LogCodec& codec, const LogHead& head) {
  return PwriteAll(fd, codec.EncodeHead(head), kLogBlockBytes * (1 + head.number % 2));
}

// Writes `head` into the slot that holds `before`, and puts that one back if it fails half way.
Result<void> ReplaceSlot(int fd, const LogCodec& codec, const LogHead& before,
                         const LogHead& head) {
  auto written = WriteSlot(fd, codec, head);
  if (!written) {
    [[maybe_unused]] const auto ignored = WriteSlot(fd, codec, before);
  }
  return written;
}

// The whole file of an empty log.
Result<void> WriteEmptyLog(int fd, const LogCodec& codec, std::uint64_t size) {
  MACO_TRY(WriteZeros(fd, 0, size));
  MACO_TRY(PwriteAll(fd, codec.header(), 0));
  MACO_TRY(WriteSlot(fd, codec, codec.EmptyHead(0)));
  return WriteSlot(fd, codec, codec.EmptyHead(1));
}

// Names the batches that follow the newest head. That head and they are written again first: their
// pages may be clean in the cache after a flush that failed. The head needs no flush of its own:
// the next one comes before another head is written. One flush per head keeps the slots
// consecutive.
Result<void> RollForward(int fd, const LogCodec& codec, const LogEnds& ends) {
  MACO_TRY(WriteSlot(fd, codec, ends.newer));
  std::uint64_t start = ends.newer.end;
  LogHead before = ends.older;
  LogHead last = ends.newer;
  for (const LogHead& head : ends.unnamed) {
    Bytes batch(static_cast<std::size_t>(head.end - start));
    std::size_t got = 0;
    MACO_ASSIGN(got, PreadFull(fd, batch, start));
    if (got != batch.size()) {
      return Fail(Code::kIo, "a log shrank while it was locked");
    }
    MACO_TRY(PwriteAll(fd, batch, start));
    MACO_TRY(SyncData(fd));
    MACO_TRY(ReplaceSlot(fd, codec, before, head));
    MACO_TRY(SyncData(fd));
    start = head.end;
    before = std::exchange(last, head);
  }
  return {};
}

}  // namespace

LogWriter::LogWriter(UniqueFd fd, LogCodec codec, const LogHead& before, const LogHead& head,
                     std::uint64_t size)
    : fd_(std::move(fd)), codec_(std::move(codec)), before_(before), head_(head), size_(size) {}

LogWriter::~LogWriter() {
  if (fd_.valid()) {
    [[maybe_unused]] const auto result = Close();
  }
}

Result<LogWriter> LogWriter::Create(const Directory& directory, const std::string& name,
                                    const Key& repository_key, const LogIdentity& identity,
                                    std::optional<LogId> log_id) {
  LogId id{};
  if (log_id) {
    id = *log_id;
  } else {
    MACO_TRY(FillRandom(id));
  }
  auto codec = LogCodec::ForNewLog(repository_key, identity, id);
  if (!codec) {
    return Fail(std::move(codec).error());
  }
  auto file = AtomicFile::Create(directory, name);
  if (!file) {
    return Fail(std::move(file).error());
  }
  // The lock belongs to the open file, so it is held before the name appears.
  UniqueFd fd;
  MACO_ASSIGN(fd, Duplicate(file->fd()));
  MACO_TRY(OfdLock::TryLock(fd.get()));
  const std::uint64_t size = SizeFor(kFirstRecordOffset);
  MACO_TRY(WriteEmptyLog(fd.get(), *codec, size));
  MACO_TRY(file->CommitNew());
  const LogHead before = codec->EmptyHead(0);
  const LogHead head = codec->EmptyHead(1);
  return LogWriter(std::move(fd), *std::move(codec), before, head, size);
}

Result<LogWriter> LogWriter::Open(const Directory& directory, const std::string& name,
                                  const Key& repository_key, const LogIdentity& identity,
                                  LogLock lock) {
  UniqueFd fd;
  MACO_ASSIGN(fd,
              OfdLock::OpenLocked(directory, name, O_RDWR | O_NONBLOCK, 0, lock == LogLock::kWait));
  FileIdentity file;
  MACO_ASSIGN(file, IdentityOf(fd.get()));
  MACO_TRY(RequirePrivateFile(file, name));
  auto scan = LogScan::Open(fd.get(), repository_key, identity);
  if (!scan) {
    return Fail(std::move(scan).error());
  }
  LogEnds ends;
  MACO_ASSIGN(ends, scan->CheckEnds(false));
  if (ends.verdict != LogVerdict::kClean && ends.verdict != LogVerdict::kHeadLag) {
    return Fail(VerdictError(ends));
  }
  MACO_TRY(RollForward(fd.get(), scan->codec(), ends));
  std::vector<LogHead> heads = {ends.older, ends.newer};
  heads.insert(heads.end(), ends.unnamed.begin(), ends.unnamed.end());
  LogWriter writer(std::move(fd), scan->TakeCodec(), heads[heads.size() - 2], heads.back(),
                   file.size);
  // A writer that was killed may have left its last head in the page cache only.
  writer.head_flushed_ = !ends.unnamed.empty();
  return writer;
}

Result<void> LogWriter::CheckUsable() const {
  if (!fd_.valid()) {
    return Fail(Code::kInternal, "append to a closed log");
  }
  if (poisoned_) {
    return Fail(Code::kIo, "an earlier append to this log failed", "open the log again");
  }
  return {};
}

Result<std::uint64_t> LogWriter::Append(std::span<const std::uint8_t> payload,
                                        Durability durability) {
  const std::span<const std::uint8_t> payloads[] = {payload};
  return AppendGroup(payloads, durability);
}

Result<std::uint64_t> LogWriter::AppendGroup(
    std::span<const std::span<const std::uint8_t>> payloads, Durability durability) {
  MACO_TRY(CheckUsable());
  if (payloads.empty()) {
    return Fail(Code::kInvalid, "an append without a record");
  }
  std::uint64_t bytes = 0;
  for (const auto& payload : payloads) {
    if (payload.size() > kMaxPayloadBytes) {
      return Fail(Code::kLimit, "a log record is larger than 1 MiB");
    }
    bytes += kFrameHeaderBytes + payload.size();
  }
  if (payloads.size() > kMaxBatchRecords || bytes > kMaxBatchBytes) {
    return Fail(Code::kLimit, "an append has more than 1024 records or 4 MiB");
  }
  if (head_.end + bytes > kMaxLogBytes) {
    return Fail(Code::kLimit, "a log is full (1 GiB)", "archive it");
  }
  Bytes batch;
  batch.reserve(static_cast<std::size_t>(bytes));
  LogHead next = head_;
  ++next.number;
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    FrameHeader frame;
    frame.payload_bytes = static_cast<std::uint32_t>(payloads[i].size());
    frame.sequence = ++next.sequence;
    frame.batch = next.number;
    frame.left = static_cast<std::uint32_t>(payloads.size() - 1 - i);
    next.mac = codec_.AppendFrame(frame, next.mac, payloads[i], batch);
  }
  next.end += bytes;
  poisoned_ = true;  // until everything below has succeeded
  MACO_TRY(WriteBatch(batch));
  const std::uint64_t first = head_.sequence + 1;
  MACO_TRY(WriteHead(next, durability));
  poisoned_ = false;
  return first;
}

Result<void> LogWriter::Grow(std::uint64_t end) {
  if (end <= size_) {
    return {};
  }
  const std::uint64_t size = SizeFor(end);
  MACO_TRY(WriteZeros(fd_.get(), size_, size));
  size_ = size;
  return {};
}

Result<void> LogWriter::WriteBatch(const Bytes& bytes) {
  MACO_TRY(Grow(head_.end + bytes.size()));
  if (auto written = PwriteAll(fd_.get(), bytes, head_.end); !written) {
    // Leave zeros, not a torn tail, as far as this file still takes writes.
    [[maybe_unused]] const auto ignored =
        WriteZeros(fd_.get(), head_.end, head_.end + bytes.size());
    return written;
  }
  return SyncData(fd_.get());
}

Result<void> LogWriter::WriteHead(const LogHead& head, Durability durability) {
  // The flush of this append's records has made the previous head durable, so this one may be
  // written: the slots on disk stay consecutive whatever happens now.
  const LogHead replaced = std::exchange(before_, std::exchange(head_, head));
  head_flushed_ = false;
  MACO_TRY(ReplaceSlot(fd_.get(), codec_, replaced, head));
  if (durability == Durability::kRecordAndHead) {
    MACO_TRY(SyncData(fd_.get()));
    head_flushed_ = true;
  }
  return {};
}

Result<void> LogWriter::Reserve(std::uint64_t bytes) {
  MACO_TRY(CheckUsable());
  if (bytes > kMaxLogBytes - head_.end) {
    return Fail(Code::kLimit, "a log is full (1 GiB)", "archive it");
  }
  const std::uint64_t before = size_;
  MACO_TRY(Grow(head_.end + bytes));
  if (size_ == before) {
    return {};
  }
  poisoned_ = true;  // a flush that fails may have lost the newest head, which is still in flight
  MACO_TRY(SyncData(fd_.get()));
  poisoned_ = false;
  return {};
}

Result<void> LogWriter::FlushHead() {
  MACO_TRY(CheckUsable());
  if (!head_flushed_) {
    poisoned_ = true;  // a failed flush is never tried again
    MACO_TRY(SyncData(fd_.get()));
    head_flushed_ = true;
    poisoned_ = false;
  }
  return {};
}

Result<void> LogWriter::Close() {
  Result<void> result;
  if (fd_.valid() && !poisoned_ && !head_flushed_) {
    result = SyncData(fd_.get());
  }
  fd_.Reset();
  return result;
}

}  // namespace maco

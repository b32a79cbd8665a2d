// Full verification of one log.
// Contract: libcommon/log/log_verify.h, docs/formats/log.md.
#include "libcommon/log/log_verify.h"

#include <algorithm>
#include <optional>

#include "libcommon/log/log_reader.h"
#include "libcommon/os/fd.h"

namespace maco {
namespace {

// Follows the chain from `position` to `stop` as far as it verifies, and as `older` and `newer` say
// if they are known. Returns where it stopped. Nothing else is retained.
Result<LogPosition> WalkChain(LogScan& scan, const LogEnds* heads, LogPosition position,
                              std::uint64_t stop, LogSummary& summary) {
  const auto fits = [](const LogPosition& at, const LogHead& head) {
    return at.batch != head.number || at.left > 0 || at.Is(head);
  };
  while (position.end < stop) {
    std::optional<LogRecord> record;
    MACO_ASSIGN(record, scan.NextRecord(position));
    if (!record || record->after.end > stop) {
      break;
    }
    const LogPosition& after = record->after;
    if (heads != nullptr && !(fits(after, heads->older) && fits(after, heads->newer))) {
      break;
    }
    position = after;
    ++summary.records;
    summary.batches += position.left == 0 ? 1 : 0;
    summary.bytes = position.end;
    summary.last_mac = position.mac;
  }
  return position;
}

// Records up to the newest head, which must be as the heads say, then those that no head names.
Result<void> WalkRecords(LogScan& scan, const LogEnds& ends, LogSummary& summary) {
  if (ends.verdict == LogVerdict::kDamagedHead || ends.verdict == LogVerdict::kNoHead) {
    // The heads do not say where it ends: the chain is followed as far as it goes.
    LogPosition last;
    MACO_ASSIGN(last, WalkChain(scan, nullptr, scan.Start(), summary.file_bytes, summary));
    return {};
  }
  LogPosition position;
  MACO_ASSIGN(position, WalkChain(scan, &ends, scan.Start(), ends.newer.end, summary));
  if (!position.Is(ends.newer)) {
    if (ends.verdict != LogVerdict::kTruncated) {
      summary.verdict = LogVerdict::kChanged;
      summary.offset = summary.bytes;
    }
    return {};
  }
  const std::uint64_t stop = ends.verdict == LogVerdict::kStaleHead ? summary.file_bytes
                             : ends.unnamed.empty()                 ? ends.newer.end
                                                                    : ends.unnamed.back().end;
  MACO_ASSIGN(position, WalkChain(scan, nullptr, position, stop, summary));
  return {};
}

}  // namespace

Result<LogSummary> VerifyLog(const Directory& directory, const std::string& name,
                             const Key& repository_key, const LogIdentity& identity) {
  UniqueFd fd;
  MACO_ASSIGN(fd, OpenLogFile(directory, name));
  auto scan = LogScan::Open(fd.get(), repository_key, identity);
  if (!scan) {
    return Fail(std::move(scan).error());
  }
  LogEnds ends;
  MACO_ASSIGN(ends, ObserveEnds(fd.get(), *scan));
  LogSummary summary;
  summary.verdict = ends.verdict;
  summary.offset = ends.offset;
  summary.bytes = kFirstRecordOffset;
  summary.last_mac = scan->codec().header_mac();
  summary.head_lag = static_cast<unsigned>(ends.unnamed.size());
  MACO_ASSIGN(summary.file_bytes, scan->Size());
  std::array<std::optional<LogHead>, 2> slots;
  MACO_ASSIGN(slots, scan->ReadSlots());
  for (const auto& slot : slots) {
    summary.head_batch = std::max(summary.head_batch, slot ? slot->number : 0);
  }
  MACO_TRY(WalkRecords(*scan, ends, summary));
  return summary;
}

}  // namespace maco

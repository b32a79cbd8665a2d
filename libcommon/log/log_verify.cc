// Full verification of one log.
// Contract: libcommon/log/log_verify.h, docs/formats/log.md.
#include "libcommon/log/log_verify.h"

#include <algorithm>
#include <optional>

#include "libcommon/log/log_reader.h"
#include "libcommon/os/fd.h"

namespace maco {
namespace {

// Walks the chain up to `stop` as far as it verifies. Nothing is retained but the position.
Result<LogPosition> WalkChain(LogScan& scan, const LogEnds& ends, std::uint64_t stop,
                              LogSummary& summary) {
  LogPosition position = scan.Start();
  const bool heads =
      ends.verdict != LogVerdict::kDamagedHead && ends.verdict != LogVerdict::kNoHead;
  const auto fits = [&](const LogHead& head) {
    return !heads || position.batch != head.number || position.left > 0 || position.Is(head);
  };
  while (position.end < stop) {
    std::optional<LogRecord> record;
    MACO_ASSIGN(record, scan.NextRecord(position));
    if (!record) {
      break;
    }
    position = record->after;
    if (!fits(ends.older) || !fits(ends.newer)) {
      break;
    }
    ++summary.records;
    summary.batches += position.left == 0 ? 1 : 0;
    summary.bytes = position.end;
    summary.last_mac = position.mac;
  }
  return position;
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
  // What the heads promise must be there. Where they do not say, the chain is followed to its end.
  const bool promised = summary.intact() || ends.verdict == LogVerdict::kTornTail;
  const std::uint64_t stop = !promised              ? summary.file_bytes
                             : ends.unnamed.empty() ? ends.newer.end
                                                    : ends.unnamed.back().end;
  LogPosition last;
  MACO_ASSIGN(last, WalkChain(*scan, ends, stop, summary));
  if (promised && (last.end != stop || summary.bytes != stop)) {
    summary.verdict = LogVerdict::kChanged;
    summary.offset = summary.bytes;
  }
  return summary;
}

}  // namespace maco

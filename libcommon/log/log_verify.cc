// Full verification of one log.
// Contract: libcommon/log/log_verify.h, docs/formats/log.md.
#include "libcommon/log/log_verify.h"

#include <algorithm>
#include <optional>

#include "libcommon/log/log_reader.h"
#include "libcommon/log/log_walk.h"
#include "libcommon/os/fd.h"

namespace maco {
namespace {

void Count(const LogWalk& walk, LogSummary& summary) {
  summary.records += walk.records;
  summary.batches += walk.batches;
  summary.bytes = walk.last.end;
  summary.last_mac = walk.last.mac;
}

// Records up to the newest head, which must be as the heads say, then those that no head names.
// `walk_range` walks over one range.
template <typename Walk>
Result<void> WalkRecords(const LogPosition& start, const LogEnds& ends, LogSummary& summary,
                         Walk walk_range) {
  LogWalk walk;
  if (ends.verdict == LogVerdict::kDamagedHead || ends.verdict == LogVerdict::kNoHead) {
    // The heads do not say where it ends: the chain is followed as far as it goes.
    MACO_ASSIGN(walk, walk_range({start, summary.file_bytes, nullptr}));
    Count(walk, summary);
    return {};
  }
  MACO_ASSIGN(walk, walk_range({start, ends.newer.end, &ends}));
  Count(walk, summary);
  if (!walk.last.Is(ends.newer)) {
    if (ends.verdict != LogVerdict::kTruncated) {
      summary.verdict = LogVerdict::kChanged;
      summary.offset = summary.bytes;
    }
    return {};
  }
  const std::uint64_t stop = ends.verdict == LogVerdict::kStaleHead ? summary.file_bytes
                             : ends.unnamed.empty()                 ? ends.newer.end
                                                                    : ends.unnamed.back().end;
  MACO_ASSIGN(walk, walk_range({walk.last, stop, nullptr}));
  Count(walk, summary);
  return {};
}

}  // namespace

Result<LogSummary> VerifyLog(const Directory& directory, const std::string& name,
                             const Key& repository_key, const LogIdentity& identity,
                             unsigned threads) {
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
  // Few records are not worth a thread.
  constexpr std::uint64_t kWorthThreads = std::uint64_t{4} << 20U;
  const LogSource source{fd.get(), repository_key, identity};
  const auto walk_range = [&](const LogRange& range) {
    return threads > 1 && range.stop - range.from.end >= kWorthThreads
               ? WalkChainOnThreads(source, range, threads)
               : WalkChain(*scan, range);
  };
  MACO_TRY(WalkRecords(scan->Start(), ends, summary, walk_range));
  return summary;
}

}  // namespace maco

// Cutting and rewriting, in an order that a second crash leaves repairable.
// Contract: libcommon/log/log_repair.h, docs/formats/log.md.
#include "libcommon/log/log_repair.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <optional>

#include "libcommon/os/atomic_file.h"
#include "libcommon/os/fd.h"
#include "libcommon/os/ofd_lock.h"

namespace maco {
namespace {

constexpr std::size_t kZeroBytes = std::size_t{64} << 10U;

// The newest head that verifies by itself, and the heads that the records give around it.
struct Chain {
  LogHead newest;
  std::optional<LogHead> before;
  std::optional<LogHead> same;
  std::optional<LogHead> after;
  LogHead last;  // of the last whole batch
};

void Note(Chain& chain, const LogHead& head) {
  if (head.number + 1 == chain.newest.number) {
    chain.before = head;
  } else if (head.number == chain.newest.number) {
    chain.same = head;
  } else if (head.number == chain.newest.number + 1) {
    chain.after = head;
  }
  chain.last = head;
}

// Verifies every record, as far as they verify, whatever the heads say.
Result<Chain> WalkBatches(LogScan& scan) {
  std::array<std::optional<LogHead>, 2> slots;
  MACO_ASSIGN(slots, scan.ReadSlots());
  Chain chain;
  for (const auto& slot : slots) {
    if (slot && slot->number >= chain.newest.number) {
      chain.newest = *slot;
    }
  }
  Note(chain, scan.codec().EmptyHead(0));
  Note(chain, scan.codec().EmptyHead(1));
  LogPosition position = scan.Start();
  for (;;) {
    std::optional<LogPosition> next;
    MACO_ASSIGN(next, scan.NextBatch(position));
    if (!next) {
      return chain;
    }
    position = *next;
    Note(chain, position.Head());
  }
}

// Offset after the last byte that is not zero, at least `from`.
Result<std::uint64_t> LastNonZero(int fd, std::uint64_t from) {
  Bytes buffer(kZeroBytes);
  std::uint64_t last = from;
  for (std::uint64_t offset = from;; offset += kZeroBytes) {
    std::size_t got = 0;
    MACO_ASSIGN(got, PreadFull(fd, buffer, offset));
    for (std::size_t i = 0; i < got; ++i) {
      last = buffer[i] != 0 ? offset + i + 1 : last;
    }
    if (got < buffer.size()) {
      return last;
    }
  }
}

Result<void> ZeroRange(int fd, std::uint64_t from, std::uint64_t to) {
  const Bytes zeros(kZeroBytes);
  while (from < to) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kZeroBytes, to - from));
    MACO_TRY(PwriteAll(fd, std::span(zeros).first(count), from));
    from += count;
  }
  return SyncData(fd);
}

// Only the slot that does not hold the newest head is written, so a head that verifies is there at
// any time. What remains is a regular log, whose head may lag.
Result<void> RewriteOtherHead(int fd, const LogCodec& codec, const Chain& chain) {
  const LogHead& head = chain.after ? *chain.after : *chain.before;
  LogBlock block{};
  std::ranges::copy(codec.EncodeHead(head), block.begin());
  MACO_TRY(PwriteAll(fd, block, kLogBlockBytes * (1 + head.number % 2)));
  return SyncData(fd);
}

// kClean if a repair can leave a log that opens; else the verdict that stands in its way.
LogVerdict Obstacle(const LogEnds& ends, const Chain& chain) {
  switch (ends.verdict) {
    case LogVerdict::kClean:
    case LogVerdict::kHeadLag:
    case LogVerdict::kTornTail:
    case LogVerdict::kDamagedHead:
      break;
    default:
      return ends.verdict;
  }
  // Every record up to the newest head must be there, as that head says.
  if (!chain.same || !LogPosition::At(*chain.same).Is(chain.newest)) {
    return LogVerdict::kChanged;
  }
  const std::uint64_t named = chain.newest.number + (chain.after ? 1 : 0);
  return chain.last.number - named > kMaxUnnamedBatches ? LogVerdict::kStaleHead
                                                        : LogVerdict::kClean;
}

// The bytes that are about to be cut, durably, under a name of their own.
Result<void> Keep(int fd, const RepairOptions& options, const RepairReport& report) {
  if (options.keep_in == nullptr) {
    return {};
  }
  auto file = AtomicFile::Create(*options.keep_in, options.keep_name);
  if (!file) {
    return Fail(std::move(file).error());
  }
  Bytes buffer(kZeroBytes);
  for (std::uint64_t done = 0; done < report.cut_bytes;) {
    const auto count = std::min<std::uint64_t>(buffer.size(), report.cut_bytes - done);
    std::size_t got = 0;
    MACO_ASSIGN(got, PreadFull(fd, std::span(buffer).first(static_cast<std::size_t>(count)),
                               report.cut_offset + done));
    if (got == 0) {
      return Fail(Code::kIo, "a log shrank while it was locked");
    }
    MACO_TRY(WriteAll(file->fd(), std::span(buffer).first(got)));
    done += got;
  }
  return file->CommitNew();
}

tl::unexpected<Error> Refuse(LogVerdict verdict, std::uint64_t offset) {
  LogEnds ends;
  ends.verdict = verdict;
  ends.offset = offset;
  return Fail(VerdictError(ends));
}

// Judges what there is, before anything is written.
Result<RepairReport> Plan(int fd, const LogEnds& ends, const RepairOptions& options,
                          const Chain& chain) {
  if (const LogVerdict obstacle = Obstacle(ends, chain); obstacle != LogVerdict::kClean) {
    return Refuse(obstacle, obstacle == ends.verdict ? ends.offset : chain.last.end);
  }
  RepairReport report;
  report.found = ends.verdict;
  report.cut_offset = chain.last.end;
  report.last_sequence = chain.last.sequence;
  std::uint64_t last = 0;
  MACO_ASSIGN(last, LastNonZero(fd, chain.last.end));
  report.cut_bytes = last - chain.last.end;
  report.head_rewritten = ends.verdict == LogVerdict::kDamagedHead;
  if (report.head_rewritten && !options.rewrite_head) {
    return Refuse(ends.verdict, ends.offset);
  }
  if (report.cut_bytes > 0 && !options.cut_torn_tail) {
    return Refuse(LogVerdict::kTornTail, chain.last.end);
  }
  return report;
}

}  // namespace

Result<RepairReport> RepairLog(const Directory& directory, const std::string& name,
                               const Key& repository_key, const LogIdentity& identity,
                               const RepairOptions& options) {
  UniqueFd fd;
  MACO_ASSIGN(fd, OfdLock::OpenLocked(directory, name, O_RDWR | O_NONBLOCK, 0, false));
  FileIdentity file;
  MACO_ASSIGN(file, IdentityOf(fd.get()));
  MACO_TRY(RequirePrivateFile(file, name));
  auto scan = LogScan::Open(fd.get(), repository_key, identity);
  if (!scan) {
    return Fail(std::move(scan).error());
  }
  LogEnds ends;
  MACO_ASSIGN(ends, scan->CheckEnds(false));
  Chain chain;
  MACO_ASSIGN(chain, WalkBatches(*scan));
  RepairReport report;
  MACO_ASSIGN(report, Plan(fd.get(), ends, options, chain));
  if (options.dry_run) {
    return report;
  }
  if (report.cut_bytes > 0) {
    MACO_TRY(Keep(fd.get(), options, report));
    MACO_TRY(ZeroRange(fd.get(), chain.last.end, chain.last.end + report.cut_bytes));
  }
  if (report.head_rewritten) {
    MACO_TRY(RewriteOtherHead(fd.get(), scan->codec(), chain));
  }
  return report;
}

}  // namespace maco

// Lock-free reading of a consistent prefix.
// Contract: libcommon/log/log_reader.h, docs/formats/log.md.
#include "libcommon/log/log_reader.h"

#include <fcntl.h>
#include <time.h>

#include <utility>

#include "libcommon/os/ofd_lock.h"

namespace maco {
namespace {

constexpr int kAttempts = 64;

void PauseOneMillisecond() {
  const timespec pause{0, 1'000'000};
  nanosleep(&pause, nullptr);
}

bool Readable(LogVerdict verdict, bool torn) {
  return verdict == LogVerdict::kClean || verdict == LogVerdict::kHeadLag ||
         verdict == LogVerdict::kInFlight || (torn && verdict == LogVerdict::kTornTail);
}

Error ChangedAt(std::uint64_t offset) {
  LogEnds ends;
  ends.verdict = LogVerdict::kChanged;
  ends.offset = offset;
  return VerdictError(ends);
}

}  // namespace

Result<LogEnds> ObserveEnds(int fd, LogScan& scan) {
  LogEnds ends;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    // A writer may come or go, and overwrite a slot while it is read. What was seen counts if the
    // file was not being written; else only what a writer leaves valid at all times.
    bool held_before = false;
    bool held_after = false;
    MACO_ASSIGN(held_before, OfdLock::HeldByOther(fd));
    MACO_ASSIGN(ends, scan.CheckEnds(held_before));
    MACO_ASSIGN(held_after, OfdLock::HeldByOther(fd));
    // A writer that came meanwhile may have written the records seen behind the newest head, and
    // not flushed them: they do not count before that head names them.
    const bool settled = held_before || !held_after;
    const bool active = held_before || held_after;
    if ((settled && Readable(ends.verdict, false)) || (!active && attempt > 0)) {
      return ends;
    }
    if (active) {
      PauseOneMillisecond();
    }
  }
  return ends;
}

Result<UniqueFd> OpenLogFile(const Directory& directory, const std::string& name) {
  UniqueFd fd;
  MACO_ASSIGN(fd, directory.OpenFile(name, O_RDONLY | O_NONBLOCK));
  FileIdentity file;
  MACO_ASSIGN(file, IdentityOf(fd.get()));
  MACO_TRY(RequirePrivateFile(file, name));
  return fd;
}

Result<std::uint32_t> EpochOfLog(int fd) {
  LogBlock header{};
  std::size_t got = 0;
  MACO_ASSIGN(got, PreadFull(fd, header, 0));
  if (got < header.size()) {
    return Fail(Code::kCorrupt, "a log is shorter than its header", "restore it from a backup");
  }
  return LogCodec::EpochOf(header);
}

LogReader::LogReader(UniqueFd fd, LogScan scan, LogEnds ends)
    : fd_(std::move(fd)),
      scan_(std::move(scan)),
      ends_(std::move(ends)),
      last_(ends_.unnamed.empty() ? ends_.newer : ends_.unnamed.back()),
      position_(scan_.Start()) {}

Result<LogReader> LogReader::Make(UniqueFd fd, const Key& repository_key,
                                  const LogIdentity& identity, bool torn) {
  auto scan = LogScan::Open(fd.get(), repository_key, identity);
  if (!scan) {
    return Fail(std::move(scan).error());
  }
  LogEnds ends;
  MACO_ASSIGN(ends, ObserveEnds(fd.get(), *scan));
  if (!Readable(ends.verdict, torn)) {
    return Fail(VerdictError(ends));
  }
  return LogReader(std::move(fd), *std::move(scan), std::move(ends));
}

Result<LogReader> LogReader::FromFd(UniqueFd fd, const Key& repository_key,
                                    const LogIdentity& identity) {
  return Make(std::move(fd), repository_key, identity, false);
}

Result<LogReader> LogReader::Open(const Directory& directory, const std::string& name,
                                  const Key& repository_key, const LogIdentity& identity) {
  UniqueFd fd;
  MACO_ASSIGN(fd, OpenLogFile(directory, name));
  return Make(std::move(fd), repository_key, identity, false);
}

Result<LogReader> LogReader::OpenTorn(const Directory& directory, const std::string& name,
                                      const Key& repository_key, const LogIdentity& identity) {
  UniqueFd fd;
  MACO_ASSIGN(fd, OpenLogFile(directory, name));
  return Make(std::move(fd), repository_key, identity, true);
}

Result<std::optional<LogEntry>> LogReader::Next() {
  const auto fits = [this](const LogHead& head) {
    return position_.batch != head.number || position_.left > 0 || position_.Is(head);
  };
  if (!fits(ends_.older) || !fits(ends_.newer)) {
    return Fail(ChangedAt(position_.end));
  }
  if (position_.end == last_.end) {
    return std::optional<LogEntry>();
  }
  std::optional<LogRecord> record;
  MACO_ASSIGN(record, scan_.NextRecord(position_));
  if (!record || record->after.end > last_.end) {
    return Fail(ChangedAt(position_.end));
  }
  LogEntry entry;
  entry.sequence = record->after.sequence;
  entry.batch = record->after.batch;
  entry.offset = position_.end;
  entry.named = record->after.end <= ends_.newer.end;
  entry.mac = record->after.mac;
  entry.payload = record->payload;
  position_ = record->after;
  return std::optional(entry);
}

}  // namespace maco

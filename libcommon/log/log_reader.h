// LogReader: iterates over one log from its first record, verifying every MAC on the way.
// Contract: docs/formats/log.md ("Reading beside a writer").
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "libcommon/auth/mac.h"
#include "libcommon/base/result.h"
#include "libcommon/log/log_scan.h"
#include "libcommon/os/directory.h"
#include "libcommon/os/fd.h"

namespace maco {

struct LogEntry {
  std::uint64_t sequence = 0;  // the first is 1
  std::uint64_t batch = 0;     // records appended as one have the same
  std::uint64_t offset = 0;    // of the record's frame in the file
  // False for a record that a crash left behind the newest head. Before acting on it, open the log
  // for append: that makes it durable.
  bool named = true;
  Mac mac{};
  std::span<const std::uint8_t> payload;  // valid until the next call to the reader
};

// Takes no lock: beside an active writer it shows what was durable when it was opened. Movable, not
// thread-safe.
class LogReader {
 public:
  // Errors: kNotFound, kPermission (owner, mode, links), kTornTail, kCorrupt, kUnsupported (a later
  // version), kInvalid (an id), kIo.
  static Result<LogReader> Open(const Directory& directory, const std::string& name,
                                const Key& repository_key, const LogIdentity& identity);
  // As Open, for a descriptor whose safety is the caller's business.
  static Result<LogReader> FromFd(UniqueFd fd, const Key& repository_key,
                                  const LogIdentity& identity);
  // As Open, but shows the whole batches before a torn tail instead of failing with kTornTail.
  static Result<LogReader> OpenTorn(const Directory& directory, const std::string& name,
                                    const Key& repository_key, const LogIdentity& identity);

  // The next record, or nothing at the end. Errors: kCorrupt (a MAC, the order, or a head that does
  // not fit; what was returned before did verify), kIo.
  Result<std::optional<LogEntry>> Next();

  // kClean, kHeadLag, kInFlight; with OpenTorn also kTornTail.
  const LogEnds& ends() const { return ends_; }
  // Sequence of the last record that Next will return, 0 if there is none.
  std::uint64_t last_sequence() const { return last_.sequence; }
  const Mac& last_mac() const { return last_.mac; }  // of that record, else of the header
  std::uint64_t end() const { return last_.end; }    // offset after it
  const LogId& log_id() const { return scan_.codec().log_id(); }

 private:
  LogReader(UniqueFd fd, LogScan scan, LogEnds ends);
  static Result<LogReader> Make(UniqueFd fd, const Key& repository_key, const LogIdentity& identity,
                                bool torn);

  UniqueFd fd_;
  LogScan scan_;
  LogEnds ends_;
  LogHead last_;  // where reading ends
  LogPosition position_;
};

// What a log's ends are, looked at without a lock: a writer that is active is waited for as
// docs/formats/log.md says, or gives kInFlight. Errors: kIo.
Result<LogEnds> ObserveEnds(int fd, LogScan& scan);

// Opens a log's file for reading, checked as LogReader::Open does. Errors: kNotFound, kPermission,
// kIo.
Result<UniqueFd> OpenLogFile(const Directory& directory, const std::string& name);

// The epoch that the header of an open log claims; opening the log with it proves it. Errors:
// kCorrupt, kUnsupported, kIo.
Result<std::uint32_t> EpochOfLog(int fd);

}  // namespace maco

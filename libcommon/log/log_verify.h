// VerifyLog: checks a whole log and says what it found, for `git maco journal verify` and doctor.
// Contract: docs/formats/log.md ("Valid if and only if").
#pragma once
#include <cstdint>
#include <string>

#include "libcommon/auth/mac.h"
#include "libcommon/base/result.h"
#include "libcommon/log/log_scan.h"
#include "libcommon/os/directory.h"

namespace maco {

struct LogSummary {
  LogVerdict verdict = LogVerdict::kClean;
  std::uint64_t offset = 0;      // where the verdict's cause lies
  std::uint64_t records = 0;     // that verify, from the first on, unnamed ones included
  std::uint64_t batches = 0;     // whole ones among them
  std::uint64_t bytes = 0;       // offset after the last of them
  std::uint64_t file_bytes = 0;  // size of the file, zeros included
  std::uint64_t head_batch = 0;  // number of the newest head that verifies, 0 also if none does
  unsigned head_lag = 0;         // batches after it
  Mac last_mac{};                // of the last record that verifies: what an anchor retains

  // Whether every acknowledged record is there: kClean, kHeadLag or kInFlight.
  bool intact() const {
    return verdict == LogVerdict::kClean || verdict == LogVerdict::kHeadLag ||
           verdict == LogVerdict::kInFlight;
  }
};

// Takes no lock. MACs are verified on `threads` threads, with at most 32 MiB of memory up to 4 of
// them; the summary does not depend on it. What the content is like is in the summary, never an
// error. Errors: kNotFound, kPermission (owner, mode, links), kCorrupt, kUnsupported (the header:
// nothing below it can be judged), kInvalid (an id), kIo.
Result<LogSummary> VerifyLog(const Directory& directory, const std::string& name,
                             const Key& repository_key, const LogIdentity& identity,
                             unsigned threads = 1);

}  // namespace maco

// A run that the policy deletes: locked, verified from its first record to its last file, and moved
// to the quarantine. Requirements PRN-01, PRN-02.
#pragma once

#include <string>

#include "libcommon/auth/state_root.h"
#include "libcommon/base/result.h"
#include "libcommon/os/directory.h"
#include "libcommon/os/fd.h"
#include "libcommon/state/prune_log.h"
#include "libcommon/state/retention.h"

namespace maco::prune {

struct Candidate {
  RetainedRun run;
  UniqueFd lock;     // of its writer; held until it is in the quarantine
  PrunedRun record;  // for the prune log
};

// Verifies journal, final record and files. With `lock` the writer's lock is taken first, waiting 5
// seconds, and everything is looked at after that. Errors: kBusy, kCorrupt, those of reading.
Result<Candidate> VerifyCandidate(const StateRoot& state, const Directory& runs,
                                  const RetainedRun& run, bool lock);

// Whether a directory is a finalized run of which nothing is gone; it may be changed, or have more.
// Errors: kRefused (part of it is gone), kCorrupt (its journal is not that of the run, or has no
// final record), those of reading.
Result<void> RequireWhole(const StateRoot& state, const Directory& directory,
                          const std::string& run);

// "<id>.<inode>": the name of a run in the quarantine.
std::string EntryName(const std::string& run, std::uint64_t inode);

// Moves the very directory that was verified. Errors: kCorrupt (it was exchanged; it stays in the
// quarantine), kExists, kIo.
Result<void> MoveToQuarantine(const Directory& runs, const Directory& quarantine,
                              const Candidate& candidate);

}  // namespace maco::prune

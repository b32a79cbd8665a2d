// The verbs of maco-worktree. Each prints its answer and returns the exit status: 0, or 1 if the
// answer is no. Errors: those of opening the state, and what each names.
#pragma once

#include "libcommon/base/result.h"
#include "maco-worktree/options.h"

namespace maco::worktree {

Result<int> Execute(const Options& options);

Result<int> Create(const Options& options);
Result<int> List(const Options& options);
Result<int> ClaimPaths(const Options& options);
Result<int> Release(const Options& options);
Result<int> Owner(const Options& options);
Result<int> TellIntent(const Options& options);
Result<int> Capture(const Options& options);
Result<int> Show(const Options& options);
Result<int> Accept(const Options& options);
Result<int> Reject(const Options& options);
Result<int> Check(const Options& options);
Result<int> ApplyCandidate(const Options& options);
Result<int> Remove(const Options& options);
Result<int> Restore(const Options& options);
Result<int> CollectGarbage(const Options& options);
Result<int> Repair(const Options& options);
Result<int> InstallHook(const Options& options);

}  // namespace maco::worktree

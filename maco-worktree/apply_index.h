// The index of the working tree that is applied to. Only the entries of the changed paths count:
// git may have written it anew since. Errors: kRefused (an entry is neither old nor new), kInvalid
// (git's words), kIo.
#pragma once

#include <string>
#include <vector>

#include "maco-worktree/apply_target.h"

namespace maco::worktree {

// Whether each entry of the changed paths is old or new.
Result<void> CheckIndex(const LaneGit& git, const Apply& row, const std::vector<Change>& changes);

// Makes the entries of the changed paths as `to` says, by one rename; all others stay. The caller
// holds index.lock.
Result<void> TurnIndex(const LaneGit& git, const Apply& row, const std::vector<Change>& changes,
                       Side to);

}  // namespace maco::worktree

// What an apply leaves that died before its row was durable: nothing was changed by it.
// Errors: kIo, kPermission.
#pragma once

#include <string>

#include "maco-worktree/place.h"

namespace maco::worktree {

// Removes from a Git directory what no row of `table` accounts for, index.lock with our text among
// it. The caller holds the mutation lock. Whether there was anything. With `dry_run` it stays.
Result<bool> ClearApplyLeftovers(const std::string& git_dir, const LaneTable& table, bool dry_run);

}  // namespace maco::worktree

// What would be lost with a lane: changes that were not applied, content that is only staged, what
// new ignore rules hide, commits that are nowhere else (WT-07).
#pragma once

#include <string>

#include "maco-worktree/ready_lane.h"

namespace maco::worktree {

// One line; empty: nothing. The caller holds the lease. Errors: those of TakeLaneTree.
Result<std::string> WhatWouldBeLost(const ReadyLane& ready);

}  // namespace maco::worktree

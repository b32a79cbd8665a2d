// What a verb needs that changes worktrees, refs or the checkout: all of it under the mutation
// lock. Errors: those of FindPlace, OpenState, LockMutation (which waits) and ReadLanes.
#pragma once

#include <memory>

#include "maco-worktree/place.h"

namespace maco::worktree {

struct Mutation {
  Place place;
  std::shared_ptr<StateRoot> state;
  UniqueFd lock;
  LaneTable table;  // as it is under the lock
};

Result<Mutation> BeginMutation();

}  // namespace maco::worktree

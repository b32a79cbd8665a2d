// Place, state, lock, table: in this order.
// Contract: maco-worktree/mutation.h.
#include "maco-worktree/mutation.h"

namespace maco::worktree {

Result<Mutation> BeginMutation() {
  Mutation out;
  MACO_ASSIGN(out.place, FindPlace());
  auto state = OpenState(out.place, Access::kWrite);
  if (!state) {
    return Fail(std::move(state).error());
  }
  out.state = std::make_shared<StateRoot>(*std::move(state));
  MACO_ASSIGN(out.lock, LockMutation(*out.state));
  MACO_ASSIGN(out.table, ReadLanes(*out.state));
  return out;
}

}  // namespace maco::worktree

// A lane that a verb works on: found, ready, where it was made, and leased.
// Errors: those of opening, kNotFound, kInvalid, kBusy (leased), kRefused (not ready, or moved by
// hand).
#pragma once

#include <memory>

#include "libcommon/lane/lane_registry.h"
#include "maco-worktree/place.h"

namespace maco::worktree {

struct ReadyLane {
  Place place;
  std::shared_ptr<StateRoot> state;
  LaneTable table;
  Lane lane;
  UniqueFd lease;
};

Result<ReadyLane> OpenReadyLane(const std::string& name, Access access, LeaseKind lease);

// kRefused unless a lane is ready: not half made, not removed.
Result<void> RequireReady(const Lane& lane);

// Whether the lane is this repository's, and its directory the one that was made. Errors: kRefused,
// kInvalid (the repository was moved).
Result<void> CheckLaneDirectory(const StateRoot& state, const Lane& lane);

// The newest candidate of a lane. Errors: kNotFound.
Result<Candidate> NewestCandidate(const LaneTable& table, const Lane& lane);

}  // namespace maco::worktree

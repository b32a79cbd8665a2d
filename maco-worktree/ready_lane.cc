// Checks in the order in which a user can do something about them.
// Contract: maco-worktree/ready_lane.h.
#include "maco-worktree/ready_lane.h"

#include "libcommon/lane/lane_home.h"

namespace maco::worktree {

Result<void> RequireReady(const Lane& lane) {
  if (lane.state == "ready") {
    return {};
  }
  return Fail(Code::kRefused, "lane '" + lane.name + "' is " + lane.state + ", not ready",
              lane.state == "removed" ? "git maco worktree restore " + lane.name
                                      : "git maco worktree repair " + lane.name);
}

Result<void> CheckLaneDirectory(const StateRoot& state, const Lane& lane) {
  MACO_TRY(CheckLaneHome(state, lane));
  const auto identity = IdentityOfPath(lane.path);
  if (!identity) {
    return Fail(Code::kRefused,
                "the directory of lane '" + lane.name + "', " + Quoted(lane.path) + ", is gone",
                "put it back, or git maco worktree remove --discard " + lane.name);
  }
  if (!IsLaneDirectory(lane, lane.path)) {
    return Fail(
        Code::kRefused,
        Quoted(lane.path) + " is not the directory that was made for lane '" + lane.name + "'",
        "put that one back, or git maco worktree remove --discard " + lane.name);
  }
  return {};
}

Result<ReadyLane> OpenReadyLane(const std::string& name, Access access, LeaseKind lease) {
  ReadyLane out;
  MACO_ASSIGN(out.place, FindPlace());
  auto state = OpenState(out.place, access);
  if (!state) {
    return Fail(std::move(state).error());
  }
  out.state = std::make_shared<StateRoot>(*std::move(state));
  MACO_ASSIGN(out.table, ReadLanes(*out.state));
  MACO_ASSIGN(out.lane, out.table.Find(name));
  MACO_TRY(RequireReady(out.lane));
  MACO_TRY(CheckLaneDirectory(*out.state, out.lane));
  MACO_ASSIGN(out.lease, TakeLease(*out.state, out.lane, lease));
  // What happened to the lane until the lease was ours.
  MACO_ASSIGN(out.table, ReadLanes(*out.state));
  MACO_ASSIGN(out.lane, out.table.Find(name));
  MACO_TRY(RequireReady(out.lane));
  MACO_TRY(CheckLaneDirectory(*out.state, out.lane));
  return out;
}

Result<Candidate> NewestCandidate(const LaneTable& table, const Lane& lane) {
  const auto candidate = table.candidates.find(lane.candidate);
  if (candidate == table.candidates.end()) {
    return Fail(Code::kNotFound, "lane '" + lane.name + "' has no candidate",
                "git maco worktree capture " + lane.name);
  }
  return candidate->second;
}

}  // namespace maco::worktree

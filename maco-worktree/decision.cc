// Opening, moving on, and the runs behind.
// Contract: maco-worktree/decision.h.
#include "maco-worktree/decision.h"

#include "libcommon/lane/lane_home.h"

#include "maco-worktree/ready_lane.h"

namespace maco::worktree {

Result<Reviewed> OpenReviewed(const std::string& name, Access access) {
  Reviewed out;
  MACO_ASSIGN(out.place, FindPlace());
  auto state = OpenState(out.place, access);
  if (!state) {
    return Fail(std::move(state).error());
  }
  out.state = std::make_shared<StateRoot>(*std::move(state));
  MACO_ASSIGN(out.table, ReadLanes(*out.state));
  MACO_ASSIGN(out.lane, out.table.Find(name));
  MACO_TRY(CheckLaneHome(*out.state, out.lane));
  MACO_ASSIGN(out.row, NewestCandidate(out.table, out.lane));
  Directory files;
  MACO_ASSIGN(files, OpenLaneDirectory(*out.state, out.lane.id));
  MACO_ASSIGN(out.document, ReadCandidate(*out.state, files, out.row));
  return out;
}

Result<void> Move(const Reviewed& reviewed, const Candidate& next) {
  auto registry = LaneRegistry::Open(*reviewed.state);
  if (!registry) {
    return Fail(std::move(registry).error());
  }
  const auto now = registry->table().candidates.find(next.id);
  const auto lane = registry->table().lanes.find(reviewed.lane.name);
  if (now == registry->table().candidates.end() || now->second.state != reviewed.row.state ||
      lane == registry->table().lanes.end() || lane->second.candidate != next.id ||
      lane->second.tainted != reviewed.lane.tainted) {
    return Fail(Code::kBusy, "lane '" + reviewed.lane.name + "' was changed by another command",
                "look at it again: git maco worktree show " + reviewed.lane.name);
  }
  StoreChange change;
  change.put[CandidateKey(next.id)] = Encode(next);
  MACO_TRY(registry->Commit(change));
  return registry->Close();
}

std::string UnprovenRuns(const StateRoot& state, const LaneTable& table, const Lane& lane,
                         const CandidateDocument& document) {
  const auto now = RunsOf(state, table, lane.id);
  if (document.runs.empty()) {
    return "no run wrote it, so that nothing proves how its changes came about";
  }
  std::size_t known = 0;
  for (const auto& run : document.runs) {
    for (const auto& seen : now) {
      if (seen.run != run.run) {
        continue;
      }
      ++known;
      if (!seen.publishable) {
        return "run " + run.run + " does not prove what it did: " + seen.why_not;
      }
      if (seen.evidence_sha256 != run.evidence_sha256) {
        return "the evidence of run " + run.run + " is not that of the capture";
      }
    }
  }
  if (known < document.runs.size()) {
    return "a run that wrote it is not known any more";
  }
  return now.size() == known ? "" : "other runs wrote the lane since it was captured";
}

}  // namespace maco::worktree

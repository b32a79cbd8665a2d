// A candidate with everything that a decision about it needs (WT-04, WT-08).
// Errors: those of opening state and candidate.
#pragma once

#include <memory>

#include "maco-worktree/candidate_document.h"

namespace maco::worktree {

struct Reviewed {
  Place place;
  std::shared_ptr<StateRoot> state;
  LaneTable table;
  Lane lane;
  Candidate row;
  CandidateDocument document;
};

// The newest candidate of a lane, verified. The lane's directory is not needed.
Result<Reviewed> OpenReviewed(const std::string& name, Access access);

// One transition, if lane and row still are what was looked at. Errors: kBusy, those of commits.
Result<void> Move(const Reviewed& reviewed, const Candidate& next);

// Why the runs behind a candidate do not prove it; empty if every run that wrote the lane verifies,
// is publishable and is the one that was captured.
std::string UnprovenRuns(const StateRoot& state, const LaneTable& table, const Lane& lane,
                         const CandidateDocument& document);

}  // namespace maco::worktree

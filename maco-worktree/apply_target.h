// The working tree that a candidate is applied to: what must hold of it before anything is changed.
// Nothing is guessed: what differs from the base is a refusal (WT-05).
#pragma once

#include <string>
#include <vector>

#include "maco-worktree/decision.h"

namespace maco::worktree {

struct Target {
  std::string worktree;
  std::string git_dir;
  std::string head;  // commit
  std::string ref;   // that HEAD names; empty: detached
  bool file_mode = true;
};

// Errors: kRefused (no working tree, a lane's own, a merge or rebase is going on, no commit).
Result<Target> FindTarget(const Place& place, const Lane& lane);

// Why not, one line each; empty if it can be applied: what the head has differs from the base,
// changes that are not committed, files in the way, paths that are not checked out or that a filter
// writes. Errors: kInvalid (git's words), kRefused (no index), kUnsupported (a split one), kIo.
Result<std::vector<std::string>> ConflictsWith(const LaneGit& git, const Target& target,
                                               const CandidateDocument& document);

// Lines for `git update-index -z --index-info`: the new state of each change, or the old one. What
// is not there is removed, and comes first.
enum class Side { kOld, kNew };
std::string IndexInfo(const std::vector<Change>& changes, Side side);

}  // namespace maco::worktree

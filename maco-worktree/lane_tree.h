// What a lane holds now, as a tree of Git and the changes against its base.
// Contract: docs/formats/lane.md. Design 3.15. Errors: kInvalid (git's words), kBusy (it changed
// while it was looked at), kLimit, kIo.
#pragma once

#include <string>
#include <vector>

#include "maco-worktree/inspect.h"
#include "maco-worktree/lane_git.h"

namespace maco::worktree {

struct Change {
  std::string path;
  std::string status;    // "A", "M", "D", "T"
  std::string old_mode;  // six octal digits; "000000": not there
  std::string new_mode;
  std::string old_oid;
  std::string new_oid;
  std::uint64_t added = 0;  // lines
  std::uint64_t deleted = 0;
  bool binary = false;
};

struct LaneTree {
  std::string base_tree;
  std::string tree;
  std::vector<Change> changes;       // sorted by path
  std::vector<std::string> ignored;  // what git's rules in the lane leave out; directories end in /
  std::vector<Finding> findings;     // of all that taints; then the rest is empty
};

enum class Believe { kTimes, kNothing };

// Inspects, then builds the tree from a copy of our index, twice compared. New objects go to the
// lane's Git directory of ours. The caller holds the lease.
Result<LaneTree> TakeLaneTree(const LaneGit& git, const Lane& lane, Believe believe);

}  // namespace maco::worktree

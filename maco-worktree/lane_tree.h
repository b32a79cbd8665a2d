// What a lane holds now, as a tree of Git and the changes against its base.
// Contract: docs/formats/lane.md. Design 3.15. Errors: kInvalid (git's words), kBusy (it changed
// while it was looked at), kLimit (the patch), kCorrupt, kIo.
#pragma once

#include <string>
#include <vector>

#include "maco-worktree/lane_git.h"
#include "maco-worktree/lane_look.h"

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
  std::vector<Finding> findings;     // of all that taints; then the rest is incomplete
  std::string patch;                 // as it is kept; empty unless it was asked for
};

enum class Believe { kTimes, kNothing };
enum class WithPatch { kNo, kYes };

// Looks at the lane, puts what is not as in the base into a copy of our index, and looks again. New
// objects go to the lane's Git directory of ours. The caller holds the lease.
Result<LaneTree> TakeLaneTree(const LaneGit& git, const Lane& lane, Believe believe,
                              WithPatch with_patch = WithPatch::kNo);

}  // namespace maco::worktree

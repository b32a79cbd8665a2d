// What is wrong with a change, and what a reader should look at first (WT-03).
// Errors: kInvalid (git's words), kLimit, kIo.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "maco-worktree/lane_tree.h"

namespace maco::worktree {

// Each of them taints: outside of the lane's claims or inside another's, submodules, links that
// lead out of the tree, names that differ from others in letters' case only.
Result<std::vector<Finding>> JudgeChanges(const LaneGit& git, const Lane& lane,
                                          const LaneTable& table, const LaneTree& tree,
                                          Letters letters);

// Whether a symbolic link at `path` that says `target` leads out of the tree, or into ".git". Pure.
bool LeadsOut(const std::string& path, const std::string& target);

// Whether what lies at `path` is out of the tree, behind the links of the tree. Pure.
bool LeadsOutThrough(const std::map<std::string, std::string>& links, const std::string& path);

// Why this path deserves a second look: "CI", "hooks", "attributes", ...; empty: it does not. Pure.
std::string RiskOf(const Change& change);

}  // namespace maco::worktree

// Which new files of a lane its own ignore rules leave out; those of settings do not count.
// Source: git-check-ignore(1). Errors: kInvalid (git's words), kLimit, kIo.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "maco-worktree/lane_git.h"
#include "maco-worktree/lane_look.h"

namespace maco::worktree {

class IgnoreRules {
 public:
  // Asks git about what is new; `fresh` is sorted. `call` names the working tree.
  static Result<IgnoreRules> Ask(const LaneGit& git, const LaneGit::Call& call,
                                 const std::vector<Seen>& fresh);
  // Whether it, or a directory above it, is left out.
  bool Covers(const std::string& path) const;
  // What is left out; a directory ends in '/' and stands for all in it.
  const std::set<std::string>& paths() const { return paths_; }

 private:
  Result<void> AskAbout(const LaneGit& git, LaneGit::Call call,
                        const std::vector<std::string>& paths);
  std::set<std::string> paths_;
};

}  // namespace maco::worktree

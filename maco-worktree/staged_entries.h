// What a commit in a working tree would hold, and what of it a lane has put there (WT-02).
// Nothing of this runs a program of the repository.
#pragma once

#include <string>
#include <vector>

#include "libcommon/lane/lane_registry.h"
#include "maco-worktree/place.h"

namespace maco::worktree {

struct Staged {
  std::string path;
  std::string mode;  // six octal digits; "000000": removed
  std::string oid;
};

// Against HEAD, or all of the index without one. Errors: kInvalid (git's words), kLimit, kIo.
Result<std::vector<Staged>> StagedEntries(const Place& place);

// The paths of those that the lane which claims them has not itself put here, by an apply of
// exactly that. Errors: those of ReadCandidate.
Result<std::vector<std::string>> PathsNotApplied(const Place& place, const StateRoot& state,
                                                 const LaneTable& table,
                                                 const std::vector<Staged>& staged);

}  // namespace maco::worktree

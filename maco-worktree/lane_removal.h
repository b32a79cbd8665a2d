// Rows of a lane put and forgotten, and what was made of a lane destroyed (WT-07).
// Errors: kIo, kPermission, those of opening and committing the store.
#pragma once

#include <string>

#include "maco-worktree/place.h"

namespace maco::worktree {

// The ref that keeps the base of a private lane.
std::string PinOf(const Lane& lane);

// The repository of `directory`, whatever variables the caller has set.
Result<Repository> FindWithoutVariables(const std::string& directory);

// git's own record of a linked lane; empty: none.
std::string RecordOf(const Place& place, const Lane& lane);

// Commits the row of a lane.
Result<void> PutLane(const StateRoot& state, const Lane& lane);

// Deletes every row of a lane: itself, claims, intents, candidates, runs.
Result<void> ForgetLane(const StateRoot& state, const Lane& lane);

// Removes a directory and everything below it, on one file system, without following a link;
// directories that are closed to their owner are opened first. What is missing is no error.
Result<void> RemoveTree(const std::string& path);

// Where a lane goes when it is removed: beside the lanes, on the same file system.
std::string TrashOf(const Lane& lane);

// Moves the directory of a lane; a run may have closed it to its owner. What lies at `to` stays,
// and is an error. Errors: kExists, kNotFound, kRefused (`from` is not that directory).
Result<void> MoveLaneDirectory(const Lane& lane, const std::string& from, const std::string& to);

// Removes what was made of a lane: directory (unless it is another one by now, or the lane is that
// of the repository that this one is a copy of), worktree of git, files in the state root, its
// branch if no commit is only there, and then its rows. The branch that stays is said on standard
// error.
Result<void> DestroyLane(const Place& place, const StateRoot& state, const Lane& lane);

// Whether a commit is in no ref of the repository but the lane's own.
Result<bool> IsOnlyInLane(const Place& place, const Lane& lane, const std::string& commit);

// The commit of the lane's branch, empty if there is no branch; of its HEAD.
std::string BranchTip(const Place& place, const Lane& lane);

}  // namespace maco::worktree

// Fills a new lane: the base's files, the lane's own index, and ignored files that are asked for.
// Errors: kInvalid (git's words), kLimit, kIo.
#pragma once

#include <string>
#include <vector>

#include "maco-worktree/lane_git.h"

namespace maco::worktree {

// Checks the base out into lane.path and leaves our index of it in the lane's files. Where the file
// system can, larger files share their blocks with those of the repository's working tree that have
// the same content. Returns how many.
Result<std::size_t> CheckOutBase(const LaneGit& git, const Place& place, const Lane& lane);

// Copies our index to where the lane's own git looks for it: its entries hold for the same files.
Result<void> GiveIndex(const LaneGit& git, const Lane& lane);

// Copies the files of the main working tree that git ignores and that `include_file` names by
// patterns, as .gitignore has them. Returns their paths. Only regular files; links are left out.
Result<std::vector<std::string>> CopyIncluded(const LaneGit& git, const Place& place,
                                              const Lane& lane, const std::string& include_file);

// A Git directory in the lane for --private: refs and index of its own, objects of the repository
// as read-only alternates, no settings but an identity.
Result<void> MakePrivateGit(const Place& place, const Lane& lane);

}  // namespace maco::worktree

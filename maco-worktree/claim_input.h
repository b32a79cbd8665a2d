// Paths that a user gave for claims, made canonical.
// Errors: kInvalid (a path leaves the tree), kUnsupported (a bare repository).
#pragma once

#include <string>
#include <vector>

#include "maco-worktree/place.h"

namespace maco::worktree {

// They count from the current directory.
Result<std::vector<std::string>> CanonicalPaths(const Place& place,
                                                const std::vector<std::string>& paths);

}  // namespace maco::worktree

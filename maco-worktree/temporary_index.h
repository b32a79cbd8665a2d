// An index file in the lane's files that goes with the object, and git's lock beside it.
// Errors: kIo, kLimit.
#pragma once

#include <string>

#include "maco-worktree/lane_git.h"

namespace maco::worktree {

// Copies a file, its time of change included: by it git tells racily clean entries, see its
// racy-git.txt. `to` must be new, and becomes 0600.
Result<void> CopyIndex(const std::string& from, const std::string& to);

class TemporaryIndex {
 public:
  // `from`: a copy of that index; empty: a name without a file.
  static Result<TemporaryIndex> Create(const LaneGit& git, const std::string& from);
  TemporaryIndex(TemporaryIndex&& other) noexcept;
  TemporaryIndex& operator=(TemporaryIndex&&) = delete;
  ~TemporaryIndex();
  const std::string& path() const { return path_; }

 private:
  explicit TemporaryIndex(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace maco::worktree

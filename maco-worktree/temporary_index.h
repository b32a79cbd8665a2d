// An index file in the lane's files that goes with the object, and git's lock beside it.
// Errors: kIo, kLimit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "maco-worktree/base_index.h"
#include "maco-worktree/lane_git.h"

namespace maco::worktree {

// Copies a file, its time of change included: by it git tells racily clean entries, see its
// racy-git.txt. `to` must be new, and becomes 0600.
Result<void> CopyIndex(const std::string& from, const std::string& to);

class TemporaryIndex {
 public:
  // `from`: a copy of that index; empty: a name without a file.
  static Result<TemporaryIndex> Create(const LaneGit& git, const std::string& from);
  // A copy in which these paths are doubted, and a time that makes git believe its entries: as it
  // counts whole seconds only, it would read nearly all of a lane that was made in one.
  static Result<TemporaryIndex> Of(const LaneGit& git, const BaseIndex& base,
                                   const std::vector<std::string_view>& doubted);
  TemporaryIndex(TemporaryIndex&& other) noexcept;
  TemporaryIndex& operator=(TemporaryIndex&&) = delete;
  ~TemporaryIndex();
  const std::string& path() const { return path_; }

 private:
  explicit TemporaryIndex(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace maco::worktree

// LaneGit: git with a Git directory of ours for one lane, so that nothing the lane, its settings,
// its attributes or its hooks name is ever run, and no index of the lane is believed.
// Contract: docs/formats/lane.md ("Files of a lane"). Requirement WT-03; design 3.14, 3.15.
#pragma once

#include <string>
#include <vector>

#include "libcommon/base/result.h"
#include "libcommon/os/spawn.h"
#include "maco-worktree/place.h"

namespace maco::worktree {

class LaneGit {
 public:
  // Writes the Git directory <files>/git: settings, HEAD at the base, the repository's objects as
  // alternates. `files` is the lane's directory in the state root. Errors: kIo, kLimit.
  static Result<LaneGit> Create(const Place& place, const Lane& lane);
  // The one that Create made.
  static LaneGit Of(const Place& place, const Lane& lane);

  struct Call {
    std::string work_tree;  // empty: none
    std::string index;      // a path; empty: none
    std::string objects;    // another place for new objects; empty: ours
    std::optional<std::string> input;
    std::vector<std::string> environment;  // besides, or instead of ours
    bool file_mode = true;                 // of the working tree: whether modes of files count
  };
  // Errors: those of RunProgram.
  Result<SpawnResult> Run(std::vector<std::string> arguments, const Call& call) const;
  // As Run, but a status other than 0 is kInvalid with git's words; the last newline is cut off.
  Result<std::string> Ask(std::vector<std::string> arguments, const Call& call) const;

  const std::string& files() const { return files_; }
  std::string git_dir() const { return files_ + "/gitdir"; }
  std::string base_index() const { return files_ + "/index"; }

 private:
  LaneGit(std::string files, std::string common_objects)
      : files_(std::move(files)), common_objects_(std::move(common_objects)) {}
  std::string files_;
  std::string common_objects_;
};

// The null-terminated fields of git's output with -z.
std::vector<std::string> ZeroFields(const std::string& text);

}  // namespace maco::worktree

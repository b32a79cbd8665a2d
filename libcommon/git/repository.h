// Finds the Git repository of a directory, by asking git itself with a clean environment.
// Source: git-rev-parse(1). Never parses .git: worktrees, submodules and gitfiles are git's
// business.
#pragma once
#include <string>

#include "libcommon/base/result.h"

namespace maco {

// All paths are absolute, as git prints them; none holds a newline.
struct Repository {
  std::string git_dir;     // of this worktree
  std::string common_dir;  // shared by all worktrees; the state root is <common_dir>/maco
  std::string worktree;    // top level; empty if bare, or if asked from inside the Git directory
  bool bare = false;
};

// The repository that git finds from `directory` (empty: the current one). GIT_DIR, GIT_WORK_TREE,
// GIT_COMMON_DIR, GIT_CEILING_DIRECTORIES and GIT_DISCOVERY_ACROSS_FILESYSTEM of our environment
// count, as `git -C`, `--git-dir` and `--work-tree` set them; relative ones count from `directory`.
// Errors: kNotFound (no directory, no repository), kPermission (git refuses the owner), kInvalid (a
// path with a newline, or git's own reason), kUnsupported (no git, or older than 2.31), kTimeout,
// kIo.
Result<Repository> FindRepository(const std::string& directory = {});

}  // namespace maco

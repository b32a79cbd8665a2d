// Throwaway: a new repository with maco state in a private temporary directory, removed at the end.
// SIGKILL and a power cut leave it behind, in $TMPDIR or /tmp under the name maco-doctor-*.
#pragma once
#include <string>

#include "libcommon/auth/state_root.h"
#include "libcommon/base/result.h"

namespace maco::doctor {

// A temporary directory, 0700, that is removed with all below it. Movable.
class TemporaryDirectory {
 public:
  // Errors: kPermission, kLimit, kIo.
  static Result<TemporaryDirectory> Make();
  TemporaryDirectory(TemporaryDirectory&& other) noexcept;
  TemporaryDirectory& operator=(TemporaryDirectory&& other) = delete;
  ~TemporaryDirectory();

  const std::string& path() const { return path_; }

 private:
  explicit TemporaryDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;  // empty when moved from
};

class Throwaway {
 public:
  // Errors: those of TemporaryDirectory, of git and of StateRoot::Initialize.
  static Result<Throwaway> Make();

  const std::string& path() const { return worktree_; }
  const StateRoot& state() const { return state_; }

 private:
  Throwaway(TemporaryDirectory directory, std::string worktree, StateRoot state)
      : directory_(std::move(directory)),
        worktree_(std::move(worktree)),
        state_(std::move(state)) {}
  TemporaryDirectory directory_;
  std::string worktree_;
  StateRoot state_;
};

}  // namespace maco::doctor

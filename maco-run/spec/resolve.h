// From options to a RunSpec: roots, masks, private directories, everything checked (RUN-06,
// RUN-09). Nothing is created or started here.
#pragma once
#include <string>
#include <vector>

#include "libcommon/base/result.h"
#include "maco-run/spec/run_spec.h"

namespace maco::run {

// What the caller asked for, and where it stands.
struct Request {
  Profile profile = Profile::kOfflineRead;
  std::string workspace;                 // empty: the worktree's top level
  std::vector<std::string> write_roots;  // --write
  Limits limits;
  std::vector<std::string> variables;
  std::vector<std::string> command;
  bool with_result = false;
  std::string lane;  // name of the lane that the workspace is
  std::string lane_id;
  std::string own_git_dir;  // of a private lane that is to be written
  std::string validates;
};

// The repository, as found by git; paths absolute.
struct Surroundings {
  std::string current_directory;
  std::string worktree;         // empty in a bare repository
  bool worktree_named = false;  // by the caller (GIT_DIR, GIT_WORK_TREE), not by the repository
  std::string git_dir;
  std::string common_dir;
  std::string state_root;  // <common_dir>/maco
  std::string home;        // of the user, from the password database
  std::string guardian;    // path of the guardian program
};

// Errors: kInvalid (a root or command that cannot be), kRefused (a root that must not be),
// kPermission (of another user), kNotFound, kLimit, kIo.
Result<RunSpec> ResolveRun(const Request& request, const Surroundings& surroundings);

}  // namespace maco::run

// Where a verb works: the repository of the current directory, its state, and what its settings
// say. Errors: those of FindRepository, ReadConfig and StateRoot::Open.
#pragma once

#include <string>

#include "libcommon/auth/json.h"
#include "libcommon/auth/state_root.h"
#include "libcommon/base/result.h"
#include "libcommon/git/repository.h"
#include "libcommon/lane/claim_path.h"
#include "libcommon/lane/lane_registry.h"
#include "libcommon/os/spawn.h"

namespace maco::worktree {

inline constexpr char kTool[] = "git maco worktree";

struct Place {
  Repository repository;
  Directory common_dir;
  Letters letters = Letters::kDiffer;
  std::string auto_crlf;   // "true", "input" or "false"
  std::string eol;         // "lf", "crlf" or "native"
  std::string lanes_root;  // where lanes are made: absolute
  bool file_mode = true;   // core.fileMode
  std::string user_name;   // user.name and user.email, may be empty
  std::string user_email;
  bool validation_required = false;  // maco.worktreeValidation
};

Result<Place> FindPlace();
Result<StateRoot> OpenState(const Place& place, Access access);

// The lock that whoever changes worktrees, refs or the checkout holds. Waits. Errors: kIo.
Result<UniqueFd> LockMutation(const StateRoot& state);

// Runs git on the repository of the user, for what only that can do: refs and its list of
// worktrees. No hook, no monitor, no pager, no maintenance. `index`: another one. Errors: those of
// RunProgram.
Result<SpawnResult> RunRepositoryGit(const std::string& git_dir, std::vector<std::string> arguments,
                                     std::optional<std::string> input = std::nullopt,
                                     const std::string& index = {});
// As it, but a status other than 0 is kInvalid with git's own words; returns what it printed
// without its last newline.
Result<std::string> AskRepositoryGit(const std::string& git_dir,
                                     std::vector<std::string> arguments);

// kInvalid, in git's own words.
Error GitFailure(const std::string& what, const SpawnResult& result);

// A path for people: quoted and escaped.
std::string Quoted(const std::string& path);

// The path of the files of a lane.
std::string LaneFiles(const Place& place, const std::string& lane_id);

}  // namespace maco::worktree

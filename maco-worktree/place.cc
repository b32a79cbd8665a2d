// Repository, settings, state, and git on the user's repository.
// Contract: maco-worktree/place.h.
#include "maco-worktree/place.h"

#include <fcntl.h>

#include <algorithm>
#include <filesystem>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/report.h"
#include "libcommon/base/text.h"
#include "libcommon/cli/output.h"
#include "libcommon/git/config.h"
#include "libcommon/git/git_program.h"
#include "libcommon/git/private_repository.h"
#include "libcommon/os/ofd_lock.h"

namespace maco::worktree {
namespace {

constexpr char kMutationLock[] = "mutation";
constexpr std::size_t kMaxOutput = std::size_t{256} << 20U;
constexpr std::chrono::minutes kGitTime{30};

std::string Lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

// As git-config(1) reads a boolean; a number other than 0 is true.
bool IsTrue(const std::string& value) {
  const std::string text = Lower(value);
  return text.empty() || text == "true" || text == "yes" || text == "on" ||
         (text.find_first_not_of("+-0123456789") == std::string::npos &&
          text.find_first_of("123456789") != std::string::npos);
}

// "/src/repo/.git" and "/src/repo.git" give "/src/repo.lanes".
std::string DefaultLanesRoot(const std::string& common_dir) {
  const std::filesystem::path path(common_dir);
  if (path.filename() == ".git") {
    return path.parent_path().string() + ".lanes";
  }
  std::string text = path.string();
  constexpr std::string_view kSuffix = ".git";
  if (text.ends_with(kSuffix)) {
    text.resize(text.size() - kSuffix.size());
  }
  return text + ".lanes";
}

// Where lanes are made decides what is written where: a repository may not say it.
Result<void> TakeRoot(const ConfigValue& value, Place& place) {
  if (!value.IsProtected()) {
    Note(kTool,
         "maco.worktreeRoot of the repository's own settings does not count; "
         "use 'git config --global'");
    return {};
  }
  std::string root = value.value;
  if (const char* home = std::getenv("HOME"); root.starts_with("~/") && home != nullptr) {
    root = home + root.substr(1);
  }
  if (!root.starts_with('/')) {
    return Fail(Code::kInvalid,
                "maco.worktreeRoot is not an absolute path: '" + EscapeControl(value.value) + "'");
  }
  const std::filesystem::path common(place.repository.common_dir);
  const auto repository =
      common.filename() == ".git" ? common.parent_path().filename() : common.filename();
  place.lanes_root = root + "/" + repository.string();
  return {};
}

Result<void> TakeSetting(const ConfigValue& value, Place& place) {
  if (value.key == "core.ignorecase") {
    place.letters = IsTrue(value.value) ? Letters::kMatch : Letters::kDiffer;
  } else if (value.key == "core.filemode") {
    place.file_mode = IsTrue(value.value);
  } else if (value.key == "core.autocrlf") {
    const std::string text = Lower(value.value);
    place.auto_crlf = text == "input" ? "input" : IsTrue(text) ? "true" : "false";
  } else if (value.key == "core.eol") {
    const std::string text = Lower(value.value);
    place.eol = text == "lf" || text == "crlf" ? text : "native";
  } else if (value.key == "user.name") {
    place.user_name = value.value;
  } else if (value.key == "user.email") {
    place.user_email = value.value;
  } else if (value.key == "maco.worktreevalidation") {
    place.validation_required = place.validation_required || IsTrue(value.value);
  } else if (value.key == "maco.worktreeroot") {
    return TakeRoot(value, place);
  }
  return {};
}

}  // namespace

Result<Place> FindPlace() {
  Place place;
  ConfiguredRepository found;
  MACO_ASSIGN(found, FindConfiguredRepository());
  place.repository = std::move(found.repository);
  MACO_ASSIGN(place.common_dir, Directory::OpenPath(place.repository.common_dir));
  place.auto_crlf = "false";
  place.eol = "native";
  place.lanes_root = DefaultLanesRoot(place.repository.common_dir);
  for (const auto& value : found.config) {
    MACO_TRY(TakeSetting(value, place));
  }
  // git names working trees without symbolic links, and so must we, to know a lane again.
  std::error_code failed;
  const auto root = std::filesystem::weakly_canonical(place.lanes_root, failed);
  if (failed) {
    return FailOs(failed.value(), "find the directory for lanes", place.lanes_root);
  }
  place.lanes_root = root.string();
  return place;
}

Result<StateRoot> OpenState(const Place& place, Access access) {
  return StateRoot::Open(place.common_dir, IfMoved::kRefuse, access);
}

Result<UniqueFd> LockMutation(const StateRoot& state) {
  return OfdLock::OpenLocked(state.dir(), kMutationLock, O_RDWR | O_CREAT, 0600, true);
}

Result<SpawnResult> RunRepositoryGit(const std::string& git_dir, std::vector<std::string> arguments,
                                     std::optional<std::string> input, const std::string& index) {
  SpawnRequest request;
  MACO_ASSIGN(request.program, FindGitProgram());
  request.arguments = {"--git-dir=" + git_dir,
                       "-c",
                       "core.hooksPath=/dev/null",
                       "-c",
                       "core.fsmonitor=false",
                       "-c",
                       "core.pager=cat",
                       "-c",
                       "gc.auto=0",
                       "-c",
                       "maintenance.auto=false",
                       "-c",
                       "core.logAllRefUpdates=true",
                       "-c",
                       "protocol.allow=never"};
  request.arguments.insert(request.arguments.end(), arguments.begin(), arguments.end());
  request.environment = CleanGitEnvironment();
  // A missing object is missing: a partial clone would ask its remote, with what settings name.
  request.environment.emplace_back("GIT_NO_LAZY_FETCH=1");
  request.environment.emplace_back("GIT_ALLOW_PROTOCOL=none");
  if (!index.empty()) {
    request.environment.push_back("GIT_INDEX_FILE=" + index);
  }
  request.directory = git_dir;
  request.input = std::move(input);
  request.output_limit = kMaxOutput;
  request.timeout = kGitTime;
  return RunProgram(request);
}

Error GitFailure(const std::string& what, const SpawnResult& result) {
  std::string reason = FirstLine(result.error_output);
  for (const std::string_view prefix : {"fatal: ", "error: "}) {
    if (reason.starts_with(prefix)) {
      reason.erase(0, prefix.size());
    }
  }
  if (result.signal != 0) {
    reason = "it was killed by signal " + std::to_string(result.signal);
  }
  return MakeError(Code::kInvalid, "git " + what + ": " + EscapeControl(reason));
}

Result<std::string> AskRepositoryGit(const std::string& git_dir,
                                     std::vector<std::string> arguments) {
  const std::string what = arguments.front();
  SpawnResult result;
  MACO_ASSIGN(result, RunRepositoryGit(git_dir, std::move(arguments)));
  if (result.signal != 0 || result.exit_status != 0) {
    return Fail(GitFailure(what, result));
  }
  if (result.output.ends_with('\n')) {
    result.output.pop_back();
  }
  return std::move(result.output);
}

std::string Quoted(const std::string& path) { return "'" + EscapeControl(path) + "'"; }

std::string LaneFiles(const Place& place, const std::string& lane_id) {
  return place.repository.common_dir + "/" + kStateRootName + "/" + kLanesName + "/" + lane_id;
}

}  // namespace maco::worktree

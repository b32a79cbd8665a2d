// Descriptor by descriptor for trees, compare-and-swap for refs.
// Contract: maco-worktree/lane_removal.h.
#include "maco-worktree/lane_removal.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "libcommon/base/report.h"
#include "libcommon/git/git_program.h"
#include "libcommon/git/private_repository.h"
#include "libcommon/lane/lane_home.h"
#include "libcommon/os/bounded_read.h"
#include "libcommon/os/directory.h"

namespace maco::worktree {
namespace {

constexpr std::size_t kMaxNames = 1'000'000;
constexpr int kMaxDepth = 512;

Result<void> RemoveBelow(const Directory& directory, int depth) {
  if (depth > kMaxDepth) {
    return Fail(Code::kLimit, "a tree to remove is nested deeper than 512");
  }
  std::vector<std::string> names;
  MACO_ASSIGN(names, directory.List(kMaxNames));
  if (!names.empty()) {
    [[maybe_unused]] const int opened = fchmod(directory.fd(), 0700);  // what follows says if not
  }
  for (const auto& name : names) {
    FileIdentity identity;
    MACO_ASSIGN(identity, directory.Stat(name));
    if (!S_ISDIR(identity.mode)) {
      MACO_TRY(directory.Unlink(name));
      continue;
    }
    if ((identity.mode & 0700U) != 0700U) {
      [[maybe_unused]] const int opened = fchmodat(directory.fd(), name.c_str(), 0700, 0);
    }
    Directory below;
    MACO_ASSIGN(below, directory.Open(name));
    MACO_TRY(RemoveBelow(below, depth + 1));
    MACO_TRY(directory.RemoveDirectory(name));
  }
  return {};
}

template <typename T>
void EraseOf(const std::map<std::string, T>& rows, const std::string& lane_id,
             std::string (*key)(const std::string&), StoreChange& change) {
  for (const auto& [id, row] : rows) {
    if (row.lane_id == lane_id) {
      change.erase.push_back(key(id));
    }
  }
}

std::string Same(const std::string& key) { return key; }

// Whether a working tree has the branch of the lane checked out: git's record of the lane is gone.
Result<bool> IsCheckedOutElsewhere(const Place& place, const Lane& lane) {
  std::string text;
  MACO_ASSIGN(text,
              AskRepositoryGit(place.repository.common_dir, {"worktree", "list", "--porcelain"}));
  return (text + "\n").find("\nbranch " + lane.branch + "\n") != std::string::npos;
}

Result<void> RemoveBranch(const Place& place, const Lane& lane) {
  const std::string& common = place.repository.common_dir;
  if (lane.kind == "private") {
    MACO_TRY(AskRepositoryGit(common, {"update-ref", "-d", PinOf(lane)}));
    return {};
  }
  const std::string tip = BranchTip(place, lane);
  if (tip.empty()) {
    return {};
  }
  bool elsewhere = false;
  MACO_ASSIGN(elsewhere, IsCheckedOutElsewhere(place, lane));
  if (elsewhere) {
    Note(kTool, "branch '" + lane.branch + "' stays: another working tree has it checked out");
    return {};
  }
  bool only_here = false;
  if (tip != lane.base) {
    MACO_ASSIGN(only_here, IsOnlyInLane(place, lane, tip));
  }
  if (only_here) {
    Note(kTool, "branch '" + lane.branch + "' stays: its commits are nowhere else");
    return {};
  }
  MACO_TRY(AskRepositoryGit(common, {"update-ref", "-d", lane.branch, tip}));
  return {};
}

// Another directory may lie there by now, and in a copied repository it is the original's: those
// are left alone.
Result<void> RemoveIfOurs(const StateRoot& state, const Lane& lane) {
  const std::string& path = lane.trash.empty() ? lane.path : lane.trash;
  if (!IsLaneDirectory(lane, path)) {
    return {};
  }
  if (auto home = CheckLaneHome(state, lane); !home) {
    return home.error().code == Code::kRefused ? Result<void>() : home;
  }
  return RemoveTree(path);
}

}  // namespace

// By what it says of its place: a record of the lane's name may be
// another worktree's. A relative place (worktree.useRelativePaths) is believed of our own record.
std::string RecordOf(const Place& place, const Lane& lane) {
  if (lane.kind != "linked") {
    return {};
  }
  constexpr std::size_t kMaxPlace = 8192;
  std::error_code ended;
  std::filesystem::directory_iterator record(place.repository.common_dir + "/worktrees", ended);
  for (; !ended && record != std::filesystem::directory_iterator(); record.increment(ended)) {
    const std::string path = record->path().string();
    const auto back = ReadPath(path + "/gitdir", kMaxPlace);
    const bool relative = back && !back->starts_with('/') && path == lane.git_dir;
    if (back && (relative || *back == lane.path + "/.git\n")) {
      return path;
    }
  }
  return {};
}

std::string PinOf(const Lane& lane) { return "refs/maco/lanes/" + lane.name; }

Result<Repository> FindWithoutVariables(const std::string& directory) {
  SpawnRequest request;
  MACO_ASSIGN(request.program, FindGitProgram());
  request.arguments = {"rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir"};
  request.environment = CleanGitEnvironment();
  request.directory = directory;
  SpawnResult result;
  MACO_ASSIGN(result, RunProgram(request));
  const std::size_t line = result.output.find('\n');
  if (result.exit_status != 0 || line == std::string::npos) {
    return Fail(GitFailure("rev-parse", result));
  }
  Repository out;
  out.git_dir = result.output.substr(0, line);
  out.common_dir = FirstLine(result.output.substr(line + 1));
  out.worktree = directory;
  return out;
}

Result<void> PutLane(const StateRoot& state, const Lane& lane) {
  auto registry = LaneRegistry::Open(state);
  if (!registry) {
    return Fail(std::move(registry).error());
  }
  StoreChange change;
  change.put[LaneKey(lane.name)] = Encode(lane);
  MACO_TRY(registry->Commit(change));
  return registry->Close();
}

Result<void> ForgetLane(const StateRoot& state, const Lane& lane) {
  auto registry = LaneRegistry::Open(state);
  if (!registry) {
    return Fail(std::move(registry).error());
  }
  const LaneTable& table = registry->table();
  StoreChange change;
  if (const auto row = table.lanes.find(lane.name);
      row != table.lanes.end() && row->second.id == lane.id) {
    change.erase.push_back(LaneKey(lane.name));
  }
  EraseOf(table.claims, lane.id, ClaimKey, change);
  EraseOf(table.intents, lane.id, IntentKey, change);
  EraseOf(table.candidates, lane.id, CandidateKey, change);
  EraseOf(table.writers, lane.id, Same, change);
  EraseOf(table.validations, lane.id, Same, change);
  if (!change.erase.empty()) {
    MACO_TRY(registry->Commit(change));
  }
  return registry->Close();
}

Result<void> RemoveTree(const std::string& path) {
  auto directory = Directory::OpenPath(path);
  if (!directory) {
    return directory.error().code == Code::kNotFound ? Result<void>()
                                                     : Fail(std::move(directory).error());
  }
  FileIdentity named;
  FileIdentity opened;
  MACO_ASSIGN(named, IdentityOfPath(path));
  MACO_ASSIGN(opened, directory->Identity());
  if (!named.SameFile(opened)) {
    return Fail(Code::kRefused, Quoted(path) + " is a symbolic link, which is left alone",
                "remove it by hand");
  }
  MACO_TRY(RemoveBelow(*directory, 0));
  if (rmdir(path.c_str()) != 0) {
    return FailOs(errno, "remove", path);
  }
  return {};
}

std::string BranchTip(const Place& place, const Lane& lane) {
  const auto tip = AskRepositoryGit(
      place.repository.common_dir, {"rev-parse", "--verify", "--quiet", lane.branch + "^{commit}"});
  return tip ? *tip : "";
}

Result<bool> IsOnlyInLane(const Place& place, const Lane& lane, const std::string& commit) {
  std::string first;
  MACO_ASSIGN(first, AskRepositoryGit(place.repository.common_dir,
                                      // Else --all means the HEAD of every worktree, also this.
                                      {"rev-list", "--max-count=1", commit, "--single-worktree",
                                       "--not", "--exclude=" + lane.branch, "--all", lane.base}));
  return !first.empty();
}

std::string TrashOf(const Lane& lane) {
  const std::filesystem::path path(lane.path);
  return (path.parent_path() / ".removed" / (lane.name + "-" + lane.id)).string();
}

Result<void> MoveLaneDirectory(const Lane& lane, const std::string& from, const std::string& to) {
  const std::filesystem::path source(from);
  const std::filesystem::path target(to);
  std::error_code failed;
  std::filesystem::create_directories(target.parent_path(), failed);
  if (failed) {
    return FailOs(failed.value(), "create the directory of", to);
  }
  Directory old_parent;
  Directory new_parent;
  MACO_ASSIGN(old_parent, Directory::OpenPath(source.parent_path().string()));
  MACO_ASSIGN(new_parent, Directory::OpenPath(target.parent_path().string()));
  if (!IsLaneDirectory(lane, from)) {
    return Fail(Code::kRefused, Quoted(from) + " is not the directory of lane '" + lane.name + "'",
                "put that one back");
  }
  // Who moves a directory to another one writes into it: its entry "..".
  FileIdentity identity;
  MACO_ASSIGN(identity, IdentityOfPath(from));
  if ((identity.mode & S_IRWXU) != S_IRWXU &&
      fchmodat(old_parent.fd(), source.filename().c_str(), (identity.mode & 07777U) | S_IRWXU, 0) !=
          0) {
    return FailOs(errno, "open up", from);
  }
  return old_parent.Move(source.filename().string(), new_parent, target.filename().string(),
                         Directory::IfThere::kKeep);
}

Result<void> DestroyLane(const Place& place, const StateRoot& state, const Lane& lane) {
  MACO_TRY(RemoveIfOurs(state, lane));
  if (const std::string record = RecordOf(place, lane); !record.empty()) {
    MACO_TRY(RemoveTree(record));
  }
  MACO_TRY(RemoveTree(LaneFiles(place, lane.id)));
  MACO_TRY(RemoveBranch(place, lane));
  return ForgetLane(state, lane);
}

}  // namespace maco::worktree

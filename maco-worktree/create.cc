// `create`: two durable commits around what is made, and nothing left when it fails (WT-01, WT-07).
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "libcommon/base/clock.h"
#include "libcommon/base/exit_code.h"
#include "libcommon/base/random_id.h"
#include "libcommon/base/report.h"
#include "libcommon/base/text.h"
#include "libcommon/cli/document.h"
#include "libcommon/cli/output.h"
#include "libcommon/git/private_repository.h"
#include "maco-worktree/claim_input.h"
#include "maco-worktree/claim_rules.h"
#include "maco-worktree/lane_git.h"
#include "maco-worktree/lane_removal.h"
#include "maco-worktree/place.h"
#include "maco-worktree/populate.h"
#include "maco-worktree/verbs.h"

namespace maco::worktree {
namespace {

constexpr char kIncludeFile[] = ".worktreeinclude";
constexpr std::size_t kMaxLanes = 1000;

// `worktree add --lock --reason` and `worktree list -z`.
Result<void> CheckGit(const Place& place) {
  constexpr std::string_view kPrefix = "git version ";
  constexpr std::uint64_t kMajor = 2;
  constexpr std::uint64_t kMinor = 36;
  std::string text;
  MACO_ASSIGN(text, AskRepositoryGit(place.repository.common_dir, {"version"}));
  const std::string version = text.starts_with(kPrefix) ? text.substr(kPrefix.size()) : text;
  const auto parts = Split(version, '.');
  const std::uint64_t major = ParseUint(parts[0]).value_or(0);
  const std::uint64_t minor = parts.size() > 1 ? ParseUint(parts[1]).value_or(0) : 0;
  return major > kMajor || (major == kMajor && minor >= kMinor)
             ? Result<void>()
             : Fail(Code::kUnsupported, "git " + EscapeControl(version) + " is too old for lanes",
                    "install git 2.36 or later");
}

Result<void> CheckRepository(const Place& place) {
  std::string outer;
  if (!place.repository.bare && !place.repository.worktree.empty()) {
    MACO_ASSIGN(outer, AskRepositoryGit(place.repository.git_dir,
                                        {"config", "--local", "--default", "", "core.worktree"}));
  }
  if (!outer.empty()) {
    return Fail(Code::kUnsupported,
                "this repository has its working tree elsewhere (core.worktree), as a submodule "
                "has: lanes are not made of it",
                "make a clone of it for lanes");
  }
  return {};
}

Result<std::string> ResolveBase(const Place& place, const std::string& revision) {
  auto oid = AskRepositoryGit(place.repository.git_dir,
                              {"rev-parse", "--verify", "--end-of-options",
                               (revision.empty() ? "HEAD" : revision) + "^{commit}"});
  if (!oid) {
    return Fail(Code::kInvalid,
                revision.empty() ? "HEAD names no commit: there is nothing to pin a lane to"
                                 : "'" + EscapeControl(revision) + "' names no commit",
                revision.empty() ? "make a first commit" : "see 'git rev-parse'");
  }
  return oid;
}

Result<Lane> Describe(const Place& place, const Options& options) {
  Lane lane;
  lane.name = options.names.front();
  if (!IsLaneName(lane.name)) {
    return LaneTable{}.Find(lane.name);  // says what a name is
  }
  MACO_ASSIGN(lane.id, RandomId());
  lane.kind = options.is_private ? "private" : "linked";
  lane.path = place.lanes_root + "/" + lane.name;
  lane.branch = "refs/heads/maco/" + lane.name;
  MACO_ASSIGN(lane.base, ResolveBase(place, options.base));
  MACO_ASSIGN(lane.format, ObjectFormat(place.repository.common_dir));
  lane.state = "creating";
  lane.created_us = lane.changed_us = WallMicros();
  lane.uid = getuid();
  if (options.is_private) {
    lane.git_dir = lane.path + "/.git";
  }
  return lane;
}

Error InTheWay(const Lane& lane) {
  return MakeError(Code::kExists, Quoted(lane.path) + " is there already, and is no lane",
                   "move it away, or choose another name");
}

// Where lanes go must be outside of every working tree, so that no run there meets another lane.
Result<void> CheckRoot(const Place& place) {
  std::vector<std::string> trees{place.repository.worktree, place.repository.common_dir};
  const std::string kField = "worktree ";
  if (const auto text = AskRepositoryGit(place.repository.common_dir,
                                         {"worktree", "list", "--porcelain", "-z"})) {
    for (const auto& field : ZeroFields(*text)) {
      if (field.starts_with(kField)) {
        trees.push_back(field.substr(kField.size()));
      }
    }
  }
  for (const auto& tree : trees) {
    if (!tree.empty() && (place.lanes_root + "/").starts_with(tree + "/")) {
      return Fail(Code::kInvalid,
                  "lanes would lie inside " + Quoted(tree) + ", in " + Quoted(place.lanes_root),
                  "set maco.worktreeRoot to a directory outside of it");
    }
  }
  return {};
}

// The directory of the lane, empty. An empty one that is there is what a crash left, or as good.
Result<void> MakeDirectory(const Place& place, Lane& lane) {
  std::error_code failed;
  std::filesystem::create_directories(place.lanes_root, failed);
  if (failed) {
    return FailOs(failed.value(), "create the directory for lanes", place.lanes_root);
  }
  rmdir(lane.path.c_str());
  if (mkdir(lane.path.c_str(), 0777) != 0) {
    return errno == EEXIST ? Fail(InTheWay(lane)) : FailOs(errno, "create", lane.path);
  }
  FileIdentity identity;
  MACO_ASSIGN(identity, IdentityOfPath(lane.path));
  lane.device = identity.device;
  lane.inode = identity.inode;
  return {};
}

Result<void> MakeFiles(const StateRoot& state, const Lane& lane) {
  Directory lanes;
  MACO_ASSIGN(lanes, state.dir().OpenOrCreate(kLanesName, 0700));
  Directory files;
  MACO_ASSIGN(files, lanes.Create(lane.id, 0700));
  for (const char* name : {"lease", "patch"}) {
    MACO_TRY(files.OpenFile(name, O_RDWR | O_CREAT | O_EXCL, 0600));
  }
  MACO_TRY(files.Sync());
  return lanes.Sync();
}

Result<void> MakeLinked(const Place& place, Lane& lane) {
  MACO_TRY(AskRepositoryGit(
      place.repository.common_dir,
      {"worktree", "add", "--quiet", "--no-checkout", "--no-track", "--lock", "--reason",
       "a lane of git maco", "-b", lane.branch.substr(std::string("refs/heads/").size()), lane.path,
       lane.base}));
  Repository made;
  MACO_ASSIGN(made, FindWithoutVariables(lane.path));
  lane.git_dir = made.git_dir;
  return {};
}

Result<void> MakePrivate(const Place& place, const Lane& lane) {
  // Keeps the base from being collected as garbage.
  MACO_TRY(AskRepositoryGit(place.repository.common_dir, {"update-ref", PinOf(lane), lane.base,
                                                          std::string(lane.base.size(), '0')}));
  return MakePrivateGit(place, lane);
}

// What the base's commit alone does not tell.
struct Made {
  std::size_t cloned = 0;             // files that share blocks with the working tree's
  std::vector<std::string> included;  // ignored files that were copied
};

Result<Made> Make(const Place& place, const StateRoot& state, Lane& lane, const Options& options) {
  MACO_TRY(MakeFiles(state, lane));
  auto git = LaneGit::Create(place, lane);
  if (!git) {
    return Fail(std::move(git).error());
  }
  MACO_TRY(lane.kind == "private" ? MakePrivate(place, lane) : MakeLinked(place, lane));
  Made made;
  MACO_ASSIGN(made.cloned, CheckOutBase(*git, place, lane));
  MACO_TRY(GiveIndex(*git, lane));
  MACO_ASSIGN(
      made.included,
      CopyIncluded(*git, place, lane, options.include.empty() ? kIncludeFile : options.include));
  return made;
}

Json Document(const Lane& lane, const std::vector<std::string>& claims, const Made& made) {
  Json out = {{"name", lane.name}, {"id", lane.id},         {"kind", lane.kind},
              {"base", lane.base}, {"branch", lane.branch}, {"path", EncodeBytes(lane.path)}};
  out["claims"] = Json::array();
  for (const auto& claim : claims) {
    out["claims"].push_back(EncodeBytes(claim));
  }
  out["cloned"] = made.cloned;
  out["included"] = Json::array();
  for (const auto& path : made.included) {
    out["included"].push_back(EncodeBytes(path));
  }
  return out;
}

Result<void> CheckFree(const LaneTable& table, const Lane& lane,
                       const std::vector<std::string>& claims, Letters letters) {
  if (const auto there = table.lanes.find(lane.name); there != table.lanes.end()) {
    return Fail(Code::kExists, "there is a lane '" + lane.name + "' already",
                there->second.state == "creating" ? "git maco worktree repair " + lane.name
                : there->second.state == "removed"
                    ? "git maco worktree restore " + lane.name + ", or gc"
                    : "choose another name, or remove it");
  }
  if (table.lanes.size() >= kMaxLanes) {
    return Fail(Code::kLimit, "there are " + std::to_string(kMaxLanes) + " lanes",
                "git maco worktree gc");
  }
  if (const auto conflict = FindConflict(table, lane.id, claims, letters)) {
    return Fail(ConflictError(*conflict, WallMicros()));
  }
  return {};
}

// What the table does not know: what lies there, and the refs of the repository.
Result<void> CheckOutside(const Place& place, const Lane& lane) {
  MACO_TRY(CheckRoot(place));
  struct stat st {};
  std::error_code ignored;
  if (lstat(lane.path.c_str(), &st) == 0 && !std::filesystem::is_empty(lane.path, ignored)) {
    return Fail(InTheWay(lane));
  }
  if (lane.kind == "linked" && !BranchTip(place, lane).empty()) {
    return Fail(Code::kExists, "there is a branch '" + lane.branch + "' already",
                "choose another name, or delete that branch");
  }
  return {};
}

Result<void> Reserve(const StateRoot& state, const Lane& lane,
                     const std::vector<std::string>& claims, Letters letters) {
  auto registry = LaneRegistry::Open(state);
  if (!registry) {
    return Fail(std::move(registry).error());
  }
  MACO_TRY(CheckFree(registry->table(), lane, claims, letters));
  StoreChange change;
  change.put[LaneKey(lane.name)] = Encode(lane);
  if (!claims.empty()) {
    std::string id;
    MACO_ASSIGN(id, RandomId());
    Claim claim{id, lane.name, lane.id, claims, lane.created_us, lane.created_us, 0, lane.uid, ""};
    change.put[ClaimKey(id)] = Encode(claim);
  }
  MACO_TRY(registry->Commit(change));
  return registry->Close();
}

}  // namespace

Result<int> Create(const Options& options) {
  Place place;
  MACO_ASSIGN(place, FindPlace());
  MACO_TRY(CheckGit(place));
  MACO_TRY(CheckRepository(place));
  auto state = OpenState(place, Access::kWrite);
  if (!state) {
    return Fail(std::move(state).error());
  }
  Lane lane;
  MACO_ASSIGN(lane, Describe(place, options));
  std::vector<std::string> claims;
  MACO_ASSIGN(claims, CanonicalPaths(place, options.claims));
  LaneTable table;
  if (options.dry_run) {
    MACO_ASSIGN(table, ReadLanes(*state));
    MACO_TRY(CheckFree(table, lane, claims, place.letters));
    MACO_TRY(CheckOutside(place, lane));
    MACO_TRY(Print("would create lane '" + lane.name + "' in " + Quoted(lane.path) + " at " +
                   lane.base + "\n"));
    return kExitOk;
  }
  UniqueFd mutation;
  MACO_ASSIGN(mutation, LockMutation(*state));
  MACO_ASSIGN(table, ReadLanes(*state));
  MACO_TRY(CheckFree(table, lane, claims, place.letters));
  MACO_TRY(CheckOutside(place, lane));
  MACO_TRY(MakeDirectory(place, lane));
  if (auto reserved = Reserve(*state, lane, claims, place.letters); !reserved) {
    rmdir(lane.path.c_str());
    return Fail(std::move(reserved).error());
  }
  auto made = Make(place, *state, lane, options);
  if (!made) {
    Error error = std::move(made).error();
    if (const auto undone = DestroyLane(place, *state, lane); !undone) {
      Note(kTool, "what was made of it is still there: " + ::maco::Describe(undone.error()) +
                      "; git maco worktree repair " + lane.name);
    }
    return Fail(std::move(error));
  }
  lane.state = "ready";
  MACO_TRY(PutLane(*state, lane));
  if (options.json) {
    MACO_TRY(PrintDocument("maco.lane/1", Document(lane, claims, *made)));
    return kExitOk;
  }
  MACO_TRY(Print(EscapeControl(lane.path) + "\n"));
  return kExitOk;
}

}  // namespace maco::worktree

// `remove`, `restore`, `gc`: nothing that is only in a lane goes without a word for it (WT-07).
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "libcommon/base/clock.h"
#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"
#include "libcommon/base/text.h"
#include "libcommon/cli/document.h"
#include "libcommon/cli/output.h"
#include "maco-worktree/lane_losses.h"
#include "maco-worktree/lane_removal.h"
#include "maco-worktree/mutation.h"
#include "maco-worktree/ready_lane.h"
#include "maco-worktree/verbs.h"

namespace maco::worktree {
namespace {

constexpr std::uint64_t kMicros = 1'000'000;

bool Exists(const std::string& path) {
  struct stat st {};
  return lstat(path.c_str(), &st) == 0;
}

std::string TrashOf(const Place& place, const Lane& lane) {
  return place.lanes_root + "/.removed/" + lane.name + "-" + lane.id;
}

Result<void> MoveDirectory(const std::string& from, const std::string& to) {
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(to).parent_path(), failed);
  if (failed) {
    return FailOs(failed.value(), "create the directory of", to);
  }
  const std::filesystem::path source(from);
  const std::filesystem::path target(to);
  Directory old_parent;
  Directory new_parent;
  MACO_ASSIGN(old_parent, Directory::OpenPath(source.parent_path().string()));
  MACO_ASSIGN(new_parent, Directory::OpenPath(target.parent_path().string()));
  return old_parent.Move(source.filename().string(), new_parent, target.filename().string(),
                         Directory::IfThere::kKeep);
}

// An apply that was cut short needs the lane.
Result<void> RequireNoApply(const LaneTable& table, const std::string& name) {
  for (const auto& [id, apply] : table.applies) {
    if (apply.lane == name) {
      return Fail(Code::kRefused, "an apply of lane '" + name + "' was cut short",
                  "git maco worktree apply --continue " + name + ", or --abort");
    }
  }
  return {};
}

// Row and claims of a lane that is being removed, in one commit.
Result<void> CommitRemoval(const StateRoot& state, const Lane& lane) {
  auto registry = LaneRegistry::Open(state);
  if (!registry) {
    return Fail(std::move(registry).error());
  }
  MACO_TRY(RequireNoApply(registry->table(), lane.name));
  StoreChange change;
  change.put[LaneKey(lane.name)] = Encode(lane);
  for (const auto& [id, claim] : registry->table().claims) {
    if (claim.lane_id == lane.id) {
      change.erase.push_back(ClaimKey(id));
    }
  }
  MACO_TRY(registry->Commit(change));
  return registry->Close();
}

}  // namespace

Result<int> Remove(const Options& options) {
  const std::string& name = options.names.front();
  ReadyLane ready;
  auto opened = OpenReadyLane(name, Access::kWrite, LeaseKind::kWrite);
  if (!opened && !(options.discard && opened.error().code == Code::kRefused)) {
    return Fail(std::move(opened).error());
  }
  if (!opened) {
    // Its directory is not there: what is left of it goes for good.
    MACO_ASSIGN(ready.place, FindPlace());
    auto state = OpenState(ready.place, Access::kWrite);
    if (!state) {
      return Fail(std::move(state).error());
    }
    MACO_ASSIGN(ready.table, ReadLanes(*state));
    MACO_ASSIGN(ready.lane, ready.table.Find(name));
    if (ready.lane.state != "ready") {
      return Fail(std::move(opened).error());
    }
    // A run may still be there: its directory has only moved away.
    MACO_ASSIGN(ready.lease, TakeLease(*state, ready.lane, LeaseKind::kWrite));
    MACO_TRY(RequireNoApply(ready.table, name));
    if (options.dry_run) {
      MACO_TRY(Print("would forget lane '" + name + "'\n"));
      return kExitOk;
    }
    UniqueFd mutation;
    MACO_ASSIGN(mutation, LockMutation(*state));
    Lane forgotten = ready.lane;
    forgotten.trash = ready.place.lanes_root + "/.removed/nothing-" + forgotten.id;
    MACO_TRY(DestroyLane(ready.place, *state, forgotten));
    return kExitOk;
  }
  ready = *std::move(opened);
  MACO_TRY(RequireNoApply(ready.table, name));
  if (!options.discard) {
    std::string lost;
    MACO_ASSIGN(lost, WhatWouldBeLost(ready));
    if (!lost.empty()) {
      Note(kTool, "lane '" + name + "' is not removed: " + lost +
                      "; capture and apply it, or git maco worktree remove --discard " + name);
      return kExitNo;
    }
  }
  Lane lane = ready.lane;
  lane.state = "removed";
  lane.changed_us = WallMicros();
  lane.trash = TrashOf(ready.place, lane);
  if (options.dry_run) {
    MACO_TRY(Print("would move " + Quoted(lane.path) + " to " + Quoted(lane.trash) + "\n"));
    return kExitOk;
  }
  UniqueFd mutation;
  MACO_ASSIGN(mutation, LockMutation(*ready.state));
  MACO_TRY(CommitRemoval(*ready.state, lane));
  if (auto moved = MoveDirectory(lane.path, lane.trash); !moved) {
    Error error = std::move(moved).error();
    error.remedy = "git maco worktree repair " + name + " takes the removal back";
    return Fail(std::move(error));
  }
  return kExitOk;
}

Result<int> Restore(const Options& options) {
  Mutation mutation;
  MACO_ASSIGN(mutation, BeginMutation());
  const auto& [place, state, lock, table] = mutation;
  Lane lane;
  MACO_ASSIGN(lane, table.Find(options.names.front()));
  if (lane.state != "removed") {
    Note(kTool, "lane '" + lane.name + "' was not removed");
    return kExitNo;
  }
  if (options.dry_run) {
    MACO_TRY(Print("would move " + Quoted(lane.trash) + " to " + Quoted(lane.path) + "\n"));
    return kExitOk;
  }
  if (!Exists(lane.path)) {
    MACO_TRY(MoveDirectory(lane.trash, lane.path));
  }
  lane.state = "ready";
  lane.changed_us = WallMicros();
  lane.trash.clear();
  MACO_TRY(CheckLaneDirectory(lane));
  MACO_TRY(PutLane(*state, lane));
  Note(kTool, "its claims were given up when it was removed: git maco worktree claim " + lane.name +
                  " PATH...");
  MACO_TRY(Print(EscapeControl(lane.path) + "\n"));
  return kExitOk;
}

Result<int> CollectGarbage(const Options& options) {
  Mutation mutation;
  MACO_ASSIGN(mutation, BeginMutation());
  const auto& [place, state, lock, table] = mutation;
  const std::uint64_t now = WallMicros();
  Json list = Json::array();
  std::string text;
  int status = kExitOk;
  for (const auto& [name, lane] : table.lanes) {
    const bool old =
        lane.changed_us <= now && now - lane.changed_us >= options.max_age_seconds * kMicros;
    if (lane.state != "removed" || !old || !RequireNoApply(table, name)) {
      continue;
    }
    list.push_back({{"name", name}, {"id", lane.id}, {"trash", EncodeBytes(lane.trash)}});
    text += (options.dry_run ? "would delete " : "deleted ") + name + "\n";
    if (options.dry_run) {
      continue;
    }
    if (const auto gone = DestroyLane(place, *state, lane); !gone) {
      ::maco::Report(kTool, gone.error());  // the others go nevertheless
      status = kExitNo;
    }
  }
  if (options.json) {
    MACO_TRY(PrintDocument("maco.lane-gc/1",
                           {{"lanes", std::move(list)}, {"dry_run", options.dry_run}}));
    return status;
  }
  MACO_TRY(Print(text));
  return status;
}

}  // namespace maco::worktree

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
#include "libcommon/lane/lane_home.h"
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

// Row and claims of a lane that is being removed, in one commit. Returns the claims.
Result<std::map<std::string, Claim>> CommitRemoval(const StateRoot& state, const Lane& lane) {
  auto registry = LaneRegistry::Open(state);
  if (!registry) {
    return Fail(std::move(registry).error());
  }
  MACO_TRY(RequireNoApply(registry->table(), lane.name));
  StoreChange change;
  std::map<std::string, Claim> claims;
  change.put[LaneKey(lane.name)] = Encode(lane);
  for (const auto& [id, claim] : registry->table().claims) {
    if (claim.lane_id == lane.id) {
      change.erase.push_back(ClaimKey(id));
      claims[id] = claim;
    }
  }
  MACO_TRY(registry->Commit(change));
  MACO_TRY(registry->Close());
  return claims;
}

// The removal did not happen: the lane is as it was.
Result<void> TakeBack(const StateRoot& state, const Lane& lane,
                      const std::map<std::string, Claim>& claims) {
  auto registry = LaneRegistry::Open(state);
  if (!registry) {
    return Fail(std::move(registry).error());
  }
  StoreChange change;
  change.put[LaneKey(lane.name)] = Encode(lane);
  for (const auto& [id, claim] : claims) {
    change.put[ClaimKey(id)] = Encode(claim);
  }
  MACO_TRY(registry->Commit(change));
  return registry->Close();
}

// Whether nothing of the lane's directory can be reached: gone, or another one, or that of the
// repository that this one is a copy of.
Result<bool> IsOutOfReach(const StateRoot& state, const Lane& lane) {
  const auto home = CheckLaneHome(state, lane);
  if (!home && home.error().code == Code::kRefused) {
    return true;
  }
  MACO_TRY(home);
  return (lane.state == "ready" && !IsLaneDirectory(lane, lane.path)) ||
         (lane.state == "removed" && !Exists(lane.trash) && !Exists(lane.path));
}

// Forgets a lane that is out of reach; one that is not could not be opened for `why`. Holds its
// lease: a run may still be in it where its directory has only moved away.
Result<int> Forget(const Options& options, const Error& why) {
  const std::string& name = options.names.front();
  Mutation mutation;
  MACO_ASSIGN(mutation, BeginMutation());
  const auto& [place, state, lock, table] = mutation;
  Lane lane;
  MACO_ASSIGN(lane, table.Find(name));
  bool out_of_reach = false;
  MACO_ASSIGN(out_of_reach, IsOutOfReach(*state, lane));
  if (!out_of_reach) {
    return Fail(why);
  }
  UniqueFd lease;
  MACO_ASSIGN(lease, TakeLease(*state, lane, LeaseKind::kWrite));
  MACO_TRY(RequireNoApply(table, name));
  if (options.dry_run) {
    MACO_TRY(Print("would forget lane '" + name + "'\n"));
    return kExitOk;
  }
  lane.trash = place.lanes_root + "/.removed/nothing-" + lane.id;
  MACO_TRY(DestroyLane(place, *state, lane));
  return kExitOk;
}

}  // namespace

Result<int> Remove(const Options& options) {
  const std::string& name = options.names.front();
  auto opened = OpenReadyLane(name, Access::kWrite, LeaseKind::kWrite);
  if (!opened) {
    const bool forget = options.discard && opened.error().code == Code::kRefused;
    return forget ? Forget(options, opened.error()) : Fail(std::move(opened).error());
  }
  const ReadyLane ready = *std::move(opened);
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
  lane.trash = TrashOf(lane);
  if (options.dry_run) {
    MACO_TRY(Print("would move " + Quoted(lane.path) + " to " + Quoted(lane.trash) + "\n"));
    return kExitOk;
  }
  UniqueFd mutation;
  MACO_ASSIGN(mutation, LockMutation(*ready.state));
  std::map<std::string, Claim> claims;
  MACO_ASSIGN(claims, CommitRemoval(*ready.state, lane));
  if (auto moved = MoveLaneDirectory(lane, lane.path, lane.trash); !moved) {
    Error error = std::move(moved).error();
    if (!TakeBack(*ready.state, ready.lane, claims)) {
      error.remedy = "git maco worktree repair " + name + " takes the removal back";
    }
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
  MACO_TRY(CheckLaneHome(*state, lane));
  const bool back_already = IsLaneDirectory(lane, lane.path) && !Exists(lane.trash);
  if (!back_already && !IsLaneDirectory(lane, lane.trash)) {
    return Fail(Code::kRefused, "what was removed, " + Quoted(lane.trash) + ", is gone",
                "put it back, or git maco worktree remove --discard " + lane.name);
  }
  if (!back_already && Exists(lane.path)) {
    return Fail(Code::kExists, "something else lies at " + Quoted(lane.path), "move it away");
  }
  if (options.dry_run) {
    MACO_TRY(Print("would move " + Quoted(lane.trash) + " to " + Quoted(lane.path) + "\n"));
    return kExitOk;
  }
  if (!back_already) {
    MACO_TRY(MoveLaneDirectory(lane, lane.trash, lane.path));
  }
  lane.state = "ready";
  lane.changed_us = WallMicros();
  lane.trash.clear();
  MACO_TRY(CheckLaneDirectory(*state, lane));
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
    const auto gone = options.dry_run ? Result<void>() : DestroyLane(place, *state, lane);
    if (!gone) {
      ::maco::Report(kTool, gone.error());  // the others go nevertheless
      status = kExitNo;
      continue;
    }
    list.push_back({{"name", name}, {"id", lane.id}, {"trash", EncodeBytes(lane.trash)}});
    text += (options.dry_run ? "would delete " : "deleted ") + name + "\n";
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

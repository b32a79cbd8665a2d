// `list` and `repair`: what there is, what is wrong with it, and what can be put right.
#include <sys/stat.h>

#include "libcommon/base/clock.h"
#include "libcommon/base/exit_code.h"
#include "libcommon/base/random_id.h"
#include "libcommon/base/report.h"
#include "libcommon/base/text.h"
#include "libcommon/cli/document.h"
#include "libcommon/cli/output.h"
#include "libcommon/lane/lane_home.h"
#include "libcommon/lane/lane_sight.h"
#include "maco-worktree/apply_leftovers.h"
#include "maco-worktree/claim_rules.h"
#include "maco-worktree/lane_git.h"
#include "maco-worktree/lane_mending.h"
#include "maco-worktree/lane_removal.h"
#include "maco-worktree/mutation.h"
#include "maco-worktree/ready_lane.h"
#include "maco-worktree/verbs.h"

namespace maco::worktree {
namespace {

bool Exists(const std::string& path) {
  struct stat st {};
  return lstat(path.c_str(), &st) == 0;
}

std::string TroubleText(const LaneSight& sight) { return sight.trouble + "; " + sight.next; }

// Worktrees below our root that are none of ours: said, never touched.
std::vector<std::string> Strangers(const Place& place, const LaneTable& table) {
  std::vector<std::string> out;
  const auto text =
      AskRepositoryGit(place.repository.common_dir, {"worktree", "list", "--porcelain", "-z"});
  if (!text) {
    return out;
  }
  const std::string kField = "worktree ";
  for (const auto& field : ZeroFields(*text)) {
    if (!field.starts_with(kField + place.lanes_root + "/")) {
      continue;
    }
    const std::string path = field.substr(kField.size());
    const bool ours = std::ranges::any_of(
        table.lanes, [&path](const auto& entry) { return entry.second.path == path; });
    if (!ours) {
      out.push_back(path);
    }
  }
  return out;
}

Json Describe(const LaneTable& table, const Lane& lane) {
  const LaneSight sight = LookAtLane(table, lane);
  Json out = {{"name", lane.name},
              {"id", lane.id},
              {"kind", lane.kind},
              {"state", sight.state},
              {"base", lane.base},
              {"branch", lane.branch},
              {"path", EncodeBytes(lane.path)},
              {"candidate", lane.candidate},
              {"tainted", EncodeBytes(lane.tainted)},
              {"trouble", EncodeBytes(sight.trouble)},
              {"next", sight.next}};
  out["claims"] = Json::array();
  for (const auto& path : ScopeOf(table, lane.id)) {
    out["claims"].push_back(EncodeBytes(path));
  }
  return out;
}

// Finishes or undoes what was cut short, and binds a lane to where its repository is now. Says what
// it did; empty: there was nothing.
Result<std::string> RepairOne(const Place& place, const StateRoot& state, const Lane& lane,
                              bool dry_run) {
  if (const auto home = CheckLaneHome(state, lane); !home) {
    if (home.error().code != Code::kInvalid) {
      return Fail(home.error());
    }
    if (!dry_run) {
      MACO_TRY(BindToPlace(place, state, lane));
    }
    return "bound to where the repository is now";
  }
  if (lane.state == "creating") {
    if (!dry_run) {
      MACO_TRY(UndoCreation(place, state, lane));
    }
    return "creation undone";
  }
  if (lane.state == "removed" && !Exists(lane.trash) && Exists(lane.path)) {
    if (!dry_run) {
      Lane back = lane;
      back.state = "ready";
      back.trash.clear();
      back.changed_us = WallMicros();
      MACO_TRY(CheckLaneDirectory(state, back));
      MACO_TRY(PutLane(state, back));
    }
    return "removal undone";
  }
  return "";
}

Result<int> Untaint(const StateRoot& state, const Lane& seen, const Options& options) {
  if (seen.tainted.empty()) {
    Note(kTool, "lane '" + seen.name + "' is not tainted");
    return kExitNo;
  }
  if (!options.dry_run) {
    // The store's journal keeps what it was; the word goes into the lane's newest candidate, if
    // any.
    auto registry = LaneRegistry::Open(state);
    if (!registry) {
      return Fail(std::move(registry).error());
    }
    Lane lane;
    MACO_ASSIGN(lane, registry->table().Find(seen.name));
    if (lane.id != seen.id || lane.tainted != seen.tainted || lane.candidate != seen.candidate) {
      return Fail(Code::kBusy, "lane '" + seen.name + "' was changed by another command",
                  "look at it again: git maco worktree list");
    }
    StoreChange change;
    Intent word;
    MACO_ASSIGN(word.id, RandomId());
    word.lane = lane.name;
    word.lane_id = lane.id;
    word.kind = "untainted";
    word.what = {lane.tainted};
    word.reason = options.untaint;
    word.created_us = WallMicros();
    change.put[IntentKey(word.id)] = Encode(word);
    lane.tainted.clear();
    change.put[LaneKey(lane.name)] = Encode(lane);
    MACO_TRY(registry->Commit(change));
    MACO_TRY(registry->Close());
  }
  MACO_TRY(Print("lane '" + seen.name + "': taint taken off; capture it again\n"));
  return kExitOk;
}

}  // namespace

Result<int> List(const Options& options) {
  Place place;
  MACO_ASSIGN(place, FindPlace());
  auto state = OpenState(place, Access::kRead);
  if (!state) {
    return Fail(std::move(state).error());
  }
  LaneTable table;
  MACO_ASSIGN(table, ReadLanes(*state));
  for (const auto& error : table.damaged) {
    ::maco::Report(kTool, error);
  }
  Json list = Json::array();
  std::string text;
  for (const auto& [name, lane] : table.lanes) {
    const LaneSight sight = LookAtLane(table, lane);
    list.push_back(Describe(table, lane));
    text += options.nul ? name + '\0'
                        : Padded(name, 24) + Padded(sight.state, 10) + lane.base.substr(0, 12) +
                              "  " + EscapeControl(lane.path) + "\n";
    if (!sight.trouble.empty() && !options.json) {
      Note(kTool, "lane '" + name + "': " + EscapeControl(TroubleText(sight)));
    }
  }
  Json strangers = Json::array();
  for (const auto& path : Strangers(place, table)) {
    strangers.push_back(EncodeBytes(path));
    if (!options.json) {
      Note(kTool, Quoted(path) + " is a worktree of git's, and no lane: it is left alone");
    }
  }
  if (options.json) {
    MACO_TRY(PrintDocument("maco.lanes/1",
                           {{"lanes", std::move(list)}, {"strangers", std::move(strangers)}}));
    return kExitOk;
  }
  MACO_TRY(Print(text));
  return kExitOk;
}

Result<int> Repair(const Options& options) {
  Mutation mutation;
  MACO_ASSIGN(mutation, BeginMutation());
  const auto& [place, state, lock, table] = mutation;
  std::vector<Lane> lanes;
  if (options.names.empty()) {
    for (const auto& [name, lane] : table.lanes) {
      lanes.push_back(lane);
    }
  } else {
    Lane lane;
    MACO_ASSIGN(lane, table.Find(options.names.front()));
    lanes.push_back(lane);
  }
  if (!options.untaint.empty()) {
    if (options.names.empty()) {
      return Fail(Code::kInvalid, "--untaint needs the name of one lane");
    }
    return Untaint(*state, lanes.front(), options);
  }
  int status = kExitOk;
  std::string text;
  bool left = false;
  MACO_ASSIGN(left, ClearApplyLeftovers(place.repository.git_dir, table, options.dry_run));
  if (left) {
    text = std::string("what an apply left that changed nothing ") +
           (options.dry_run ? "would be" : "was") + " removed\n";
  }
  for (const auto& lane : lanes) {
    const auto done = RepairOne(place, *state, lane, options.dry_run);
    if (!done) {
      ::maco::Report(kTool, done.error());
      status = kExitNo;
    } else if (!done->empty()) {
      text += lane.name + ": " + (options.dry_run ? "would be " : "") + *done + "\n";
    } else if (const LaneSight sight = LookAtLane(table, lane); !sight.trouble.empty()) {
      Note(kTool, "lane '" + lane.name + "': " + EscapeControl(TroubleText(sight)));
      status = kExitNo;
    }
  }
  MACO_TRY(Print(text));
  return status;
}

}  // namespace maco::worktree

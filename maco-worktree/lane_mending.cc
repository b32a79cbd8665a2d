// Work is moved aside, links are written anew; what says where the repository was goes last.
// Contract: maco-worktree/lane_mending.h. Source: git-worktree(1), "repair".
#include "maco-worktree/lane_mending.h"

#include <fcntl.h>

#include <algorithm>
#include <filesystem>

#include "libcommon/base/byte_codec.h"
#include "libcommon/base/clock.h"
#include "libcommon/base/report.h"
#include "libcommon/lane/lane_home.h"
#include "libcommon/lane/lane_registry.h"
#include "maco-worktree/lane_removal.h"
#include "maco-worktree/lane_tree.h"

namespace maco::worktree {
namespace {

// Whether anything lies there but files of the base, whole or missing. If that cannot be told, it
// counts as work.
bool HoldsWork(const Place& place, const Lane& lane) {
  std::error_code failed;
  if (!IsLaneDirectory(lane, lane.path) || std::filesystem::is_empty(lane.path, failed)) {
    return false;
  }
  const auto tree = TakeLaneTree(LaneGit::Of(place, lane), lane, Believe::kNothing);
  return !tree || !tree->findings.empty() || !tree->ignored.empty() ||
         std::ranges::any_of(tree->changes,
                             [](const Change& change) { return change.status != "D"; });
}

Result<void> WriteAlternates(const Directory& directory, const std::string& name,
                             const Place& place) {
  UniqueFd file;
  MACO_ASSIGN(file, directory.OpenFile(name, O_WRONLY | O_TRUNC));
  MACO_TRY(WriteAll(file.get(), AsBytes(place.repository.common_dir + "/objects\n")));
  return Sync(file.get());
}

}  // namespace

Result<void> UndoCreation(const Place& place, const StateRoot& state, const Lane& lane) {
  if (HoldsWork(place, lane)) {
    const std::string aside = TrashOf(lane) + "-unfinished";
    MACO_TRY(MoveLaneDirectory(lane, lane.path, aside));
    Note(kTool, "what lay in lane '" + lane.name + "' is in " + Quoted(aside) + " now");
  }
  return DestroyLane(place, state, lane);
}

Result<void> BindToPlace(const Place& place, const StateRoot& state, const Lane& lane) {
  Lane bound = lane;
  if (const std::string moved = place.lanes_root + "/" + lane.name;
      lane.state == "ready" && !IsLaneDirectory(lane, lane.path) && IsLaneDirectory(lane, moved)) {
    bound.path = moved;
  }
  const std::string& there = lane.state == "removed" ? bound.trash : bound.path;
  if (!IsLaneDirectory(lane, there)) {
    return Fail(Code::kRefused,
                "the directory of lane '" + lane.name + "', " + Quoted(there) + ", is not there",
                "put it back, and call it again");
  }
  Directory files;
  MACO_ASSIGN(files, OpenLaneDirectory(state, lane.id));
  if (lane.kind == "private") {
    Directory own;
    MACO_ASSIGN(own, Directory::OpenPath(there));
    MACO_TRY(WriteAlternates(own, ".git/objects/info/alternates", place));
    bound.git_dir = bound.path + "/.git";
  } else {
    // With the place of the lane it mends both links, whichever of the two was moved.
    MACO_TRY(AskRepositoryGit(place.repository.common_dir, {"worktree", "repair", bound.path}));
    const std::string record = RecordOf(place, bound);
    bound.git_dir = record.empty() ? bound.git_dir : record;
  }
  bound.changed_us = lane.state == "removed" ? lane.changed_us : WallMicros();
  MACO_TRY(PutLane(state, bound));
  return WriteAlternates(files, kLaneAlternates, place);  // last: until then it counts as moved
}

}  // namespace maco::worktree

// Order: what was cut short, what is gone, what is tainted, then the way of a candidate.
// Contract: libcommon/lane/lane_sight.h.
#include "libcommon/lane/lane_sight.h"

#include <sys/stat.h>

#include "libcommon/lane/lane_home.h"

namespace maco {
namespace {

constexpr char kVerb[] = "git maco worktree ";

bool Exists(const std::string& path) {
  struct stat st {};
  return lstat(path.c_str(), &st) == 0;
}

std::string NextFor(const std::string& state, const std::string& name) {
  if (state == "unread") {
    return kVerb + ("show " + name);
  }
  if (state == "read") {
    return kVerb + ("accept " + name);
  }
  if (state == "accepted") {
    return kVerb + ("apply " + name);
  }
  if (state == "applied" || state == "rejected") {
    return kVerb + ("remove " + name);
  }
  return kVerb + ("capture " + name);
}

void Trouble(LaneSight& sight, std::string what, std::string next) {
  sight.trouble = std::move(what);
  sight.next = kVerb + std::move(next);
  sight.urgent = true;
}

}  // namespace

LaneSight LookAtLane(const LaneTable& table, const Lane& lane) {
  const std::string& name = lane.name;
  const auto candidate = table.candidates.find(lane.candidate);
  LaneSight out;
  out.name = name;
  out.candidate = lane.candidate;
  out.state = lane.state != "ready"                 ? lane.state
              : !lane.tainted.empty()               ? "tainted"
              : candidate == table.candidates.end() ? "open"
                                                    : candidate->second.state;
  for (const auto& [id, apply] : table.applies) {
    if (apply.lane == name) {
      Trouble(out, "an apply was cut short", "apply --continue " + name + ", or --abort");
      return out;
    }
  }
  if (lane.state == "creating") {
    Trouble(out, "its creation was cut short, or is going on", "repair " + name);
  } else if (lane.state == "removed" && !Exists(lane.trash) && Exists(lane.path)) {
    Trouble(out, "its removal was cut short", "repair " + name);
  } else if (lane.state == "removed" && !Exists(lane.trash)) {
    Trouble(out, "the directory that was removed is gone", "remove --discard " + name);
  } else if (lane.state == "removed") {
    out.next = kVerb + ("restore " + name + ", or gc");
  } else if (!Exists(lane.path)) {
    Trouble(out, "its directory is gone", "remove --discard " + name);
  } else if (!IsLaneDirectory(lane, lane.path)) {
    Trouble(out, "its directory is not the one that was made for it", "remove --discard " + name);
  } else if (!lane.tainted.empty()) {
    out.trouble = lane.tainted;
    out.next = kVerb + ("repair --untaint NOTE " + name);
  } else {
    out.next = NextFor(out.state, name);
  }
  return out;
}

}  // namespace maco

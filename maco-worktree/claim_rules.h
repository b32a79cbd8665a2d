// Which claims exclude which, and whose a path is (WT-02). Pure.
// Contract: docs/formats/lane.md ("Paths of claims").
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libcommon/lane/claim_path.h"
#include "libcommon/lane/lane_registry.h"

namespace maco::worktree {

struct Conflict {
  std::string wanted;
  std::string claimed;
  Claim claim;
};

// The first claim of another lane that overlaps one of `paths`.
std::optional<Conflict> FindConflict(const LaneTable& table, const std::string& lane_id,
                                     const std::vector<std::string>& paths, Letters letters);

// The claim that covers a path, whoever has it.
const Claim* OwnerOf(const LaneTable& table, const std::string& path, Letters letters);

// The paths that a lane has claimed; none: nothing limits it.
std::vector<std::string> ScopeOf(const LaneTable& table, const std::string& lane_id);

// Whether its time is over. A clock that went back makes nothing expire.
bool IsOver(const Claim& claim, std::uint64_t now_us);

// kBusy: who has it, since when, until when, and what to do.
Error ConflictError(const Conflict& conflict, std::uint64_t now_us);

}  // namespace maco::worktree

// Loops over all claims: there are few.
// Contract: maco-worktree/claim_rules.h.
#include "maco-worktree/claim_rules.h"

#include "libcommon/cli/output.h"
#include "maco-worktree/place.h"

namespace maco::worktree {

std::optional<Conflict> FindConflict(const LaneTable& table, const std::string& lane_id,
                                     const std::vector<std::string>& paths, Letters letters) {
  for (const auto& [id, claim] : table.claims) {
    if (claim.lane_id == lane_id) {
      continue;
    }
    for (const auto& claimed : claim.paths) {
      for (const auto& wanted : paths) {
        if (ClaimsOverlap(claimed, wanted, letters)) {
          return Conflict{wanted, claimed, claim};
        }
      }
    }
  }
  return std::nullopt;
}

const Claim* OwnerOf(const LaneTable& table, const std::string& path, Letters letters) {
  for (const auto& [id, claim] : table.claims) {
    for (const auto& claimed : claim.paths) {
      if (ClaimCovers(claimed, path, letters)) {
        return &claim;
      }
    }
  }
  return nullptr;
}

std::vector<std::string> ScopeOf(const LaneTable& table, const std::string& lane_id) {
  std::vector<std::string> out;
  for (const auto& [id, claim] : table.claims) {
    if (claim.lane_id == lane_id) {
      out.insert(out.end(), claim.paths.begin(), claim.paths.end());
    }
  }
  return out;
}

bool IsOver(const Claim& claim, std::uint64_t now_us) {
  return claim.expires_us != 0 && claim.renewed_us <= now_us && claim.expires_us <= now_us;
}

Error ConflictError(const Conflict& conflict, std::uint64_t now_us) {
  const Claim& claim = conflict.claim;
  std::string what = Quoted(conflict.wanted) + " is claimed: lane '" + claim.lane + "' has " +
                     Quoted(conflict.claimed) + " since " + UtcTime(claim.created_us);
  if (IsOver(claim, now_us)) {
    return MakeError(Code::kBusy, what + ", but that time is over",
                     "git maco worktree claim --take-over NAME PATH...");
  }
  if (claim.expires_us != 0) {
    what += ", until " + UtcTime(claim.expires_us);
  }
  return MakeError(Code::kBusy, what,
                   "wait, or release it: git maco worktree release " + claim.lane);
}

}  // namespace maco::worktree

// `claim`, `release`, `owner`, `intent` (WT-02).
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "libcommon/base/clock.h"
#include "libcommon/base/exit_code.h"
#include "libcommon/base/random_id.h"
#include "libcommon/base/report.h"
#include "libcommon/base/text.h"
#include "libcommon/cli/document.h"
#include "libcommon/cli/output.h"
#include "maco-worktree/claim_input.h"
#include "maco-worktree/claim_rules.h"
#include "maco-worktree/lane_git.h"
#include "maco-worktree/lane_removal.h"
#include "maco-worktree/place.h"
#include "maco-worktree/ready_lane.h"
#include "maco-worktree/staged_entries.h"
#include "maco-worktree/verbs.h"

namespace maco::worktree {
namespace {

constexpr std::uint64_t kMicros = 1'000'000;
constexpr std::size_t kMaxClaims = 4096;
constexpr std::size_t kMaxText = 1024;

struct Opened {
  Place place;
  std::shared_ptr<StateRoot> state;
  std::optional<LaneRegistry> registry;
  Lane lane;
};

Result<Opened> OpenFor(const std::string& name) {
  Opened out;
  MACO_ASSIGN(out.place, FindPlace());
  auto state = OpenState(out.place, Access::kWrite);
  if (!state) {
    return Fail(std::move(state).error());
  }
  out.state = std::make_shared<StateRoot>(*std::move(state));
  auto registry = LaneRegistry::Open(*out.state);
  if (!registry) {
    return Fail(std::move(registry).error());
  }
  out.registry.emplace(*std::move(registry));
  MACO_ASSIGN(out.lane, out.registry->table().Find(name));
  return out;
}

// Every claim in the way must be over, and nobody may hold its lane.
Result<std::vector<Claim>> TakeOver(const Opened& opened, const std::vector<std::string>& paths,
                                    std::uint64_t now) {
  LaneTable table = opened.registry->table();
  std::vector<Claim> out;
  while (const auto conflict = FindConflict(table, opened.lane.id, paths, opened.place.letters)) {
    const Claim& claim = conflict->claim;
    if (!IsOver(claim, now)) {
      return Fail(ConflictError(*conflict, now));
    }
    const auto lane = table.lanes.find(claim.lane);
    bool held = false;
    if (lane != table.lanes.end() && lane->second.id == claim.lane_id) {
      MACO_ASSIGN(held, LeaseHeld(*opened.state, lane->second));
    }
    if (held) {
      return Fail(Code::kBusy, "lane '" + claim.lane + "' is in use, so its claim still holds",
                  "wait for it; 'git maco status' shows runs");
    }
    out.push_back(claim);
    table.claims.erase(claim.id);
  }
  return out;
}

// Without the paths that are given up; an empty claim goes.
void Shrink(Claim claim, const std::vector<std::string>& paths, Letters letters,
            StoreChange& change) {
  std::erase_if(claim.paths, [&](const std::string& claimed) {
    return std::ranges::any_of(
        paths, [&](const std::string& path) { return ClaimCovers(path, claimed, letters); });
  });
  if (claim.paths.empty()) {
    change.erase.push_back(ClaimKey(claim.id));
  } else {
    change.put[ClaimKey(claim.id)] = Encode(claim);
  }
}

// The lane whose working tree this is.
std::string LaneHere(const LaneTable& table, const Place& place) {
  for (const auto& [name, lane] : table.lanes) {
    if (lane.path == place.repository.worktree) {
      return lane.id;
    }
  }
  return {};
}

}  // namespace

Result<int> ClaimPaths(const Options& options) {
  Opened opened;
  MACO_ASSIGN(opened, OpenFor(options.names.front()));
  MACO_TRY(RequireReady(opened.lane));
  std::vector<std::string> paths;
  MACO_ASSIGN(paths,
              CanonicalPaths(opened.place, {options.names.begin() + 1, options.names.end()}));
  const LaneTable& table = opened.registry->table();
  if (table.claims.size() >= kMaxClaims) {
    return Fail(Code::kLimit, "there are " + std::to_string(kMaxClaims) + " claims",
                "git maco worktree release NAME");
  }
  const std::uint64_t now = WallMicros();
  StoreChange change;
  std::string superseded;
  if (options.take_over) {
    std::vector<Claim> over;
    MACO_ASSIGN(over, TakeOver(opened, paths, now));
    for (const auto& claim : over) {
      superseded = claim.id;
      change.erase.push_back(ClaimKey(claim.id));
    }
  } else if (const auto conflict =
                 FindConflict(table, opened.lane.id, paths, opened.place.letters)) {
    return Fail(ConflictError(*conflict, now));
  }
  // What the lane has of these already is renewed.
  std::uint64_t created = now;
  for (const auto& [id, claim] : table.claims) {
    if (claim.lane_id == opened.lane.id && claim.paths == paths) {
      created = claim.created_us;
      change.erase.push_back(ClaimKey(id));
    }
  }
  Claim claim;
  MACO_ASSIGN(claim.id, RandomId());
  claim.lane = opened.lane.name;
  claim.lane_id = opened.lane.id;
  claim.paths = paths;
  claim.created_us = created;
  claim.renewed_us = now;
  claim.expires_us = options.expires_seconds == 0 ? 0 : now + options.expires_seconds * kMicros;
  claim.uid = getuid();
  claim.supersedes = superseded;
  change.put[ClaimKey(claim.id)] = Encode(claim);
  if (options.dry_run) {
    for (const auto& path : paths) {
      MACO_TRY(Print("would claim " + Quoted(path) + "\n"));
    }
    return kExitOk;
  }
  MACO_TRY(opened.registry->Commit(change));
  MACO_TRY(opened.registry->Close());
  return kExitOk;
}

Result<int> Release(const Options& options) {
  Opened opened;
  MACO_ASSIGN(opened, OpenFor(options.names.front()));
  std::vector<std::string> paths{kWholeTree};
  if (options.names.size() > 1) {
    MACO_ASSIGN(paths,
                CanonicalPaths(opened.place, {options.names.begin() + 1, options.names.end()}));
  }
  StoreChange change;
  change.release = true;
  for (const auto& [id, claim] : opened.registry->table().claims) {
    if (claim.lane_id == opened.lane.id) {
      StoreChange one;
      Shrink(claim, paths, opened.place.letters, one);
      const bool same = one.put.count(ClaimKey(id)) != 0 && one.put[ClaimKey(id)] == Encode(claim);
      if (!same) {
        change.put.merge(one.put);
        change.erase.insert(change.erase.end(), one.erase.begin(), one.erase.end());
      }
    }
  }
  if (change.put.empty() && change.erase.empty()) {
    Note(kTool, "lane '" + opened.lane.name + "' has claimed nothing of that");
    return kExitNo;
  }
  // A claim that shrinks may still be larger than what the reserved room is for.
  change.release = change.put.empty();
  if (options.dry_run) {
    MACO_TRY(Print("would change " + std::to_string(change.put.size() + change.erase.size()) +
                   " claims\n"));
    return kExitOk;
  }
  MACO_TRY(opened.registry->Commit(change));
  MACO_TRY(opened.registry->Close());
  return kExitOk;
}

Result<int> Owner(const Options& options) {
  Place place;
  MACO_ASSIGN(place, FindPlace());
  auto state = OpenState(place, Access::kRead);
  if (!state) {
    return Fail(std::move(state).error());
  }
  LaneTable table;
  MACO_ASSIGN(table, ReadLanes(*state));
  std::vector<Staged> staged;
  std::vector<std::string> paths;
  if (options.staged) {
    MACO_ASSIGN(staged, StagedEntries(place));
    MACO_ASSIGN(paths, PathsNotApplied(place, *state, table, staged));
  } else {
    MACO_ASSIGN(paths, CanonicalPaths(place, options.names));
  }
  const std::string here = LaneHere(table, place);
  Json list = Json::array();
  std::string text;
  int status = kExitOk;
  for (const auto& path : paths) {
    const Claim* owner = OwnerOf(table, path, place.letters);
    if (options.staged && (owner == nullptr || owner->lane_id == here)) {
      continue;
    }
    if (options.staged) {
      Note(kTool, Quoted(path) + " is claimed by lane '" + owner->lane + "'");
      status = kExitNo;
    }
    const std::string lane = owner != nullptr ? owner->lane : "";
    list.push_back({{"path", EncodeBytes(path)}, {"lane", lane}});
    text += options.nul      ? path + '\0' + lane + '\0'
            : options.staged ? ""
                             : Padded(lane.empty() ? "-" : lane, 16) + EscapeControl(path) + "\n";
  }
  if (options.json) {
    MACO_TRY(PrintDocument("maco.owners/1", {{"owners", std::move(list)}}));
    return status;
  }
  MACO_TRY(Print(text));
  return status;
}

Result<int> TellIntent(const Options& options) {
  Opened opened;
  MACO_ASSIGN(opened, OpenFor(options.names.front()));
  const LaneTable& table = opened.registry->table();
  if (options.names.size() == 1) {
    Json list = Json::array();
    for (const auto& [id, intent] : table.intents) {
      if (intent.lane_id == opened.lane.id) {
        list.push_back(Encode(intent));
      }
    }
    MACO_TRY(PrintDocument("maco.intents/1", {{"intents", std::move(list)}}));
    return kExitOk;
  }
  MACO_TRY(RequireReady(opened.lane));
  Intent intent;
  MACO_ASSIGN(intent.id, RandomId());
  intent.lane = opened.lane.name;
  intent.lane_id = opened.lane.id;
  intent.kind = options.kind;
  intent.reason = options.reason;
  intent.created_us = WallMicros();
  intent.uid = getuid();
  const std::vector<std::string> what(options.names.begin() + 1, options.names.end());
  if (options.kind == "path") {
    MACO_ASSIGN(intent.what, CanonicalPaths(opened.place, what));
  } else {
    intent.what = what;
  }
  for (const auto& text : intent.what) {
    if (text.empty() || text.size() > kMaxText) {
      return Fail(Code::kInvalid, "what an intent names has 1 to 1024 bytes");
    }
  }
  // Several lanes may mean the same: that is what they tell each other.
  for (const auto& [id, other] : table.intents) {
    for (const auto& text : intent.what) {
      if (other.lane_id != intent.lane_id && other.kind == intent.kind &&
          std::ranges::find(other.what, text) != other.what.end()) {
        Note(kTool, "lane '" + other.lane + "' means to work on " + Quoted(text) +
                        " too: " + EscapeControl(other.reason));
      }
    }
  }
  StoreChange change;
  change.put[IntentKey(intent.id)] = Encode(intent);
  MACO_TRY(opened.registry->Commit(change));
  MACO_TRY(opened.registry->Close());
  return kExitOk;
}

}  // namespace maco::worktree

// From the registry to roots.
// Contract: maco-run/lane_choice.h.
#include "maco-run/lane_choice.h"

#include <sys/stat.h>
#include <unistd.h>

#include "libcommon/base/clock.h"
#include "libcommon/base/text.h"
#include "libcommon/lane/lane_home.h"
#include "libcommon/os/directory.h"
#include "libcommon/os/spawn.h"
#include "maco-run/own_program.h"

namespace maco::run {
namespace {

constexpr std::chrono::minutes kCheckTime{30};
constexpr std::uint64_t kNotConfirmed = 0;  // as the time of a validation

Result<void> CheckReady(const StateRoot& state, const Lane& lane) {
  if (lane.state != "ready") {
    return Fail(Code::kRefused, "lane '" + lane.name + "' is " + lane.state + ", not ready",
                "git maco worktree list");
  }
  MACO_TRY(CheckLaneHome(state, lane));
  if (!IsLaneDirectory(lane, lane.path)) {
    return Fail(Code::kRefused,
                "the directory of lane '" + lane.name + "' is not the one that was made for it",
                "git maco worktree list");
  }
  return {};
}

// Below the lane, without links on the way.
Result<std::string> ClaimedDirectory(const Lane& lane, const std::string& claim) {
  Directory top;
  MACO_ASSIGN(top, Directory::OpenPath(lane.path));
  if (claim == ".") {
    return lane.path;
  }
  for (std::size_t slash = claim.find('/');; slash = claim.find('/', slash + 1)) {
    const auto made = top.OpenOrCreate(claim.substr(0, slash), 0777);
    if (!made) {
      return Fail(Code::kInvalid,
                  "the claim '" + EscapeControl(claim) +
                      "' is no directory, and only directories "
                      "can be writable roots",
                  "claim its directory, or leave --write-claims out");
    }
    if (slash == std::string::npos) {
      return lane.path + "/" + claim;
    }
  }
}

Result<void> AddClaims(const LaneTable& table, const Lane& lane, Request& request) {
  bool any = false;
  for (const auto& [id, claim] : table.claims) {
    if (claim.lane_id != lane.id) {
      continue;
    }
    for (const auto& path : claim.paths) {
      std::string root;
      MACO_ASSIGN(root, ClaimedDirectory(lane, path));
      request.write_roots.push_back(std::move(root));
      any = true;
    }
  }
  return any ? Result<void>()
             : Fail(Code::kInvalid, "lane '" + lane.name + "' has claimed nothing",
                    "git maco worktree claim " + lane.name + " PATH...");
}

// What a lane holds is maco-worktree's business: it is asked.
Result<void> CheckCandidate(const Lane& lane, const std::string& candidate) {
  SpawnRequest request;
  MACO_ASSIGN(request.program, OwnProgram("maco-worktree"));
  request.arguments = {"check", "--candidate", candidate, lane.name};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    request.environment.emplace_back(*entry);
  }
  request.timeout = kCheckTime;
  SpawnResult result;
  MACO_ASSIGN(result, RunProgram(request));
  if (result.exit_status != 0 || result.signal != 0) {
    return Fail(Code::kRefused,
                "lane '" + lane.name + "' is not candidate " + EscapeControl(candidate) + ": " +
                    EscapeControl(result.error_output.substr(0, result.error_output.find('\n'))),
                "git maco worktree capture " + lane.name);
  }
  return {};
}

Result<void> PutRun(const StateRoot& state, const ChosenLane& chosen, const LaneRun& run) {
  auto registry = LaneRegistry::Open(state);
  if (!registry) {
    return Fail(std::move(registry).error());
  }
  StoreChange change;
  change.put[chosen.writes ? WriterKey(chosen.lane.id, run.run)
                           : ValidationKey(chosen.candidate, run.run)] = Encode(run);
  MACO_TRY(registry->Commit(change));
  return registry->Close();
}

}  // namespace

Result<ChosenLane> ChooseLane(const StateRoot& state, const Options& options, Request& request) {
  ChosenLane out;
  out.candidate = options.validates;
  LaneTable table;
  MACO_ASSIGN(table, ReadLanes(state));
  MACO_ASSIGN(out.lane, table.Find(options.lane));
  MACO_TRY(CheckReady(state, out.lane));
  if (!options.profile_named) {
    request.profile = out.candidate.empty() ? Profile::kOfflineWrite : Profile::kOfflineRead;
  }
  out.writes = request.profile == Profile::kOfflineWrite;
  if (out.writes && !out.candidate.empty()) {
    return Fail(Code::kUsage, "--validates only reads the lane",
                "leave '--profile offline-write' out");
  }
  MACO_ASSIGN(out.lease,
              TakeLease(state, out.lane, out.writes ? LeaseKind::kWrite : LeaseKind::kRead));
  // What happened to it until the lease was ours.
  MACO_ASSIGN(table, ReadLanes(state));
  MACO_ASSIGN(out.lane, table.Find(options.lane));
  MACO_TRY(CheckReady(state, out.lane));
  request.workspace = out.lane.path;
  request.lane = out.lane.name;
  request.lane_id = out.lane.id;
  request.validates = out.candidate;
  if (out.writes && out.lane.kind == "private") {
    request.own_git_dir = out.lane.git_dir;
  }
  if (options.write_claims) {
    MACO_TRY(AddClaims(table, out.lane, request));
  } else if (out.writes && request.write_roots.empty()) {
    request.write_roots.push_back(out.lane.path);
  }
  if (!out.candidate.empty()) {
    MACO_TRY(CheckCandidate(out.lane, out.candidate));
  }
  return out;
}

Result<void> RecordLaneRun(const StateRoot& state, const ChosenLane& chosen,
                           const std::string& run_id) {
  if (!chosen.writes && chosen.candidate.empty()) {
    return {};
  }
  return PutRun(
      state, chosen,
      {run_id, chosen.lane.id, chosen.candidate, chosen.writes ? WallMicros() : kNotConfirmed});
}

Result<void> ConfirmValidation(const std::string& common_dir, const ChosenLane& chosen,
                               const std::string& run_id) {
  MACO_TRY(CheckCandidate(chosen.lane, chosen.candidate));
  Directory common;
  MACO_ASSIGN(common, Directory::OpenPath(common_dir));
  auto state = StateRoot::Open(common, IfMoved::kRefuse, Access::kWrite);
  if (!state) {
    return Fail(std::move(state).error());
  }
  return PutRun(*state, chosen, {run_id, chosen.lane.id, chosen.candidate, WallMicros()});
}

}  // namespace maco::run

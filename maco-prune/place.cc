// Opening and settings.
// Contract: maco-prune/place.h.
#include "maco-prune/place.h"

#include <fcntl.h>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/report.h"
#include "libcommon/base/text.h"
#include "libcommon/cli/duration.h"
#include "libcommon/cli/output.h"
#include "libcommon/git/config.h"
#include "libcommon/git/repository.h"
#include "libcommon/lane/lane_registry.h"
#include "libcommon/os/ofd_lock.h"
#include "libcommon/state/steps.h"
#include "maco-prune/options.h"

namespace maco::prune {
namespace {

constexpr char kLockName[] = "prune.lock";
constexpr char kQuarantineName[] = "quarantine";
constexpr char kPrefix[] = "maco.prune.";

Result<void> TakeSetting(const std::string& name, const std::string& value,
                         RetentionPolicy& policy) {
  const auto set = [&](std::optional<std::uint64_t>& member,
                       std::optional<std::uint64_t> number) -> Result<void> {
    if (!number) {
      return Fail(Code::kInvalid,
                  std::string(kPrefix) + name + " is '" + EscapeControl(value) + "'",
                  "see git-maco-prune(1), CONFIGURATION");
    }
    member = number;
    return {};
  };
  if (name == "keep") {
    return set(policy.keep, ParseUint(value));
  }
  if (name == "keepdaily") {
    return set(policy.keep_daily, ParseUint(value));
  }
  if (name == "keepweekly") {
    return set(policy.keep_weekly, ParseUint(value));
  }
  if (name == "maxage") {
    return set(policy.max_age_seconds, ParseDuration(value));
  }
  if (name == "maxbytes") {
    return set(policy.max_bytes, ParseSize(value));
  }
  if (name == "state") {
    MACO_ASSIGN(policy.outcomes, ParseOutcomes(value));
    return {};
  }
  Note(kTool, "unknown setting " + std::string(kPrefix) + EscapeControl(name));
  return {};
}

}  // namespace

Result<Place> OpenPlace(Access access) {
  Repository repository;
  MACO_ASSIGN(repository, FindRepository());
  Directory common;
  MACO_ASSIGN(common, Directory::OpenPath(repository.common_dir));
  auto state = StateRoot::Open(common, IfMoved::kRefuse, access);
  if (!state) {
    return Fail(std::move(state).error());
  }
  Place out;
  out.state = std::make_unique<StateRoot>(*std::move(state));
  if (access == Access::kWrite) {
    auto lock = OfdLock::OpenLocked(out.state->dir(), kLockName, O_RDWR | O_CREAT, 0600, false);
    if (!lock && lock.error().code == Code::kBusy) {
      return Fail(Code::kBusy, "another prune of this repository is going on", "wait for it");
    }
    MACO_ASSIGN(out.lock, std::move(lock));
  }
  return out;
}

Result<Directory> OpenQuarantine(const StateRoot& state) {
  return state.dir().OpenOrCreate(kQuarantineName, 0700);
}

Result<RetentionPolicy> PolicyFor(const RetentionPolicy& given) {
  RetentionPolicy settings;
  std::vector<ConfigValue> values;
  MACO_ASSIGN(values, ReadConfig(kPrefix));
  for (const auto& value : values) {
    if (!value.IsProtected()) {
      Note(kTool,
           EscapeControl(value.key) +
               " of the repository's own settings does not count; use 'git config --global'");
      continue;
    }
    MACO_TRY(
        TakeSetting(value.key.substr(std::string_view(kPrefix).size()), value.value, settings));
  }
  // A command line with rules of its own is the whole policy.
  RetentionPolicy out = given.empty() ? settings : given;
  out.outcomes = given.outcomes.empty() ? settings.outcomes : given.outcomes;
  return out;
}

Result<std::map<std::string, std::string>> NeededRuns(const StateRoot& state) {
  std::map<std::string, std::string> steps;
  MACO_ASSIGN(steps, RunsOfSteps(state));
  std::map<std::string, std::string> out;
  for (const auto& [run, step] : steps) {
    out[run] = "step '" + step + "' rests on it";
  }
  LaneTable table;
  MACO_ASSIGN(table, ReadLanes(state));
  if (!table.damaged.empty()) {
    return Fail(table.damaged.front());  // it is not known what a lane needs
  }
  std::map<std::string, std::string> lanes;  // names by id
  for (const auto& [name, lane] : table.lanes) {
    lanes[lane.id] = name;
  }
  for (const auto* rows : {&table.writers, &table.validations}) {
    for (const auto& [key, row] : *rows) {
      if (const auto lane = lanes.find(row.lane_id); lane != lanes.end()) {
        out[row.run] = "lane '" + lane->second + "' rests on it";
      }
    }
  }
  return out;
}

Result<void> PrintDocument(const char* schema, Json document) {
  document["schema"] = schema;
  std::string text;
  MACO_ASSIGN(text, Canonicalize(document));
  return Print(text + "\n");
}

}  // namespace maco::prune

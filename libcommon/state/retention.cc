// Runs in order of time; rules that protect, then rules that delete.
// Contract: libcommon/state/retention.h.
#include "libcommon/state/retention.h"

#include <algorithm>
#include <set>

#include "libcommon/base/random_id.h"
#include "libcommon/state/run_event.h"

namespace maco {
namespace {

constexpr std::size_t kMaxRuns = 1'000'000;
constexpr std::uint64_t kSecond = 1'000'000;
constexpr std::uint64_t kDay = 86'400 * kSecond;
constexpr std::uint64_t kWeek = 7 * kDay;
// 1970-01-01 was a Thursday; weeks begin on Mondays.
constexpr std::uint64_t kFirstMonday = 4 * kDay;

std::string HeldBack(const RunSight& sight) {
  const RunVerdict verdict = Conclude(sight);
  switch (verdict.kind) {
    case RunKind::kRunning:
      return "it is going on";
    case RunKind::kUncertain:
      return "uncertain: " + verdict.message;
    case RunKind::kDamaged:
      return "damaged: " + verdict.message;
    case RunKind::kIdle:
      break;
  }
  if (sight.copied) {
    return "it is a copy: the repository was rebound since its final record "
           "(git maco journal resolve --abandoned)";
  }
  return sight.finalization ? "" : "it has no final record";
}

// Protects the newest run of each of the last `count` periods that have one. `runs` newest first.
void Protect(const std::vector<RetainedRun*>& runs, std::uint64_t count, std::uint64_t period,
             std::uint64_t start, const std::string& rule,
             std::map<std::string, std::string>& out) {
  std::set<std::uint64_t> periods;
  for (const auto* run : runs) {
    const std::uint64_t number = (run->time_us + period - start % period) / period;
    if (periods.contains(number)) {
      continue;
    }
    if (periods.size() == count) {
      return;
    }
    periods.insert(number);
    out.emplace(run->id, rule);
  }
}

}  // namespace

RetainedRun RetentionOf(const RunSight& sight) {
  RetainedRun out;
  out.id = sight.id;
  out.held_back = HeldBack(sight);
  if (sight.finalization) {
    out.time_us = sight.finalization->finalized_us;
    out.bytes = sight.finalization->bytes();
    out.files = sight.finalization->files.size() + 1;
    out.outcome = sight.finalization->outcome;
  }
  return out;
}

void HoldBack(const std::map<std::string, std::string>& needed, std::vector<RetainedRun>& runs) {
  for (auto& run : runs) {
    const auto need = needed.find(run.id);
    if (run.held_back.empty() && need != needed.end()) {
      run.held_back = need->second;
    }
  }
}

Result<std::vector<RetainedRun>> ListRetained(const StateRoot& state) {
  std::vector<RetainedRun> out;
  const auto runs = state.dir().Open(kRunsName);
  if (!runs) {
    return runs.error().code == Code::kNotFound ? Result<std::vector<RetainedRun>>(out)
                                                : Fail(runs.error());
  }
  std::vector<std::string> names;
  MACO_ASSIGN(names, runs->List(kMaxRuns));
  for (const auto& name : names) {
    out.push_back(RetentionOf(LookAtRun(state, *runs, name)));
  }
  std::ranges::sort(out, [](const RetainedRun& a, const RetainedRun& b) {
    return std::tie(a.time_us, a.id) < std::tie(b.time_us, b.id);
  });
  return out;
}

void Decide(const RetentionPolicy& policy, std::uint64_t now_us, std::vector<RetainedRun>& runs) {
  std::uint64_t total = 0;
  std::vector<RetainedRun*> newest;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    run->deleted = false;
    run->reason = run->held_back;
    const bool meant = policy.outcomes.empty() ||
                       std::ranges::find(policy.outcomes, run->outcome) != policy.outcomes.end();
    total += meant ? run->bytes : 0;
    if (!run->held_back.empty()) {
      continue;
    }
    if (meant) {
      newest.push_back(&*run);
    } else {
      run->reason = "its outcome is '" + run->outcome + "'";
    }
  }
  std::map<std::string, std::string> kept;
  for (std::size_t i = 0; policy.keep && i < newest.size() && i < *policy.keep; ++i) {
    kept.emplace(newest[i]->id, "one of the newest " + std::to_string(*policy.keep));
  }
  if (policy.keep_daily) {
    Protect(newest, *policy.keep_daily, kDay, 0, "the newest of its day", kept);
  }
  if (policy.keep_weekly) {
    Protect(newest, *policy.keep_weekly, kWeek, kFirstMonday, "the newest of its week", kept);
  }
  const bool by_age_or_size = policy.max_age_seconds || policy.max_bytes;
  for (auto run = newest.rbegin(); run != newest.rend(); ++run) {  // the oldest first
    RetainedRun& it = **run;
    if (const auto rule = kept.find(it.id); rule != kept.end()) {
      it.reason = rule->second;
      continue;
    }
    const std::uint64_t age = it.time_us < now_us ? (now_us - it.time_us) / kSecond : 0;
    if (policy.max_age_seconds && age > *policy.max_age_seconds) {
      it.deleted = true;
      it.reason = "older than the policy allows";
    } else if (policy.max_bytes && total > *policy.max_bytes) {
      it.deleted = true;
      it.reason = "the oldest, and together they are larger than the policy allows";
    } else if (!by_age_or_size && !policy.empty()) {
      it.deleted = true;
      it.reason = "no rule keeps it";
    } else {
      it.reason = policy.empty() ? "there is no policy" : "within the policy";
    }
    if (it.deleted) {
      total -= it.bytes;
    }
  }
}

}  // namespace maco

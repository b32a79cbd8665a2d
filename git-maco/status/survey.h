// Survey: all runs of a repository, counted by their last events, those that need attention named.
// Printed as lines and as maco.status/1: git-maco-status(1).
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "git-maco/status/effect_lines.h"
#include "git-maco/status/space_lines.h"
#include "libcommon/auth/state_root.h"
#include "libcommon/base/result.h"
#include "libcommon/lane/lane_sight.h"
#include "libcommon/state/run_sight.h"
#include "libcommon/store/store_limits.h"

namespace maco::status {

struct Attention {
  RunSight sight;
  RunVerdict verdict;
};

// How full a store is, or why it cannot be read.
struct StoreSight {
  std::string name;
  std::optional<Error> error;
  StoreFill fill;

  // Rows, journal or retained journals are nearly at their limit.
  bool nearly_full() const;
};

struct Survey {
  std::string state_root;  // absolute path
  std::string repository_id;
  bool moved = false;
  std::string recorded_path;  // the common directory on record
  std::uint64_t total = 0;
  std::uint64_t running = 0;
  // By the last event; "none" without one. Damaged runs are not in it.
  std::map<std::string, std::uint64_t> by_last_event;
  std::vector<Attention> uncertain;
  std::vector<Attention> damaged;
  std::vector<StoreSight> stores;
  std::vector<LaneSight> lanes;
  SpaceSurvey space;
  EffectSurvey effects;

  bool quiet() const;
};

// Errors: kPermission (the directory of runs), kLimit (more than 1,000,000 runs), kIo.
Result<Survey> SurveyRuns(const StateRoot& state, std::string state_root);

// Adds one run. Pure.
void Count(RunSight sight, Survey& survey);

// Stores, and what that of effects holds. Errors: kPermission (the directory of stores), kLimit,
// kIo.
Result<void> SurveyStores(const StateRoot& state, Survey& survey);

// What the policy for runs would free, if there is one and there is something to free. A policy or
// a need that cannot be read is told by `git maco prune`.
void SurveySpace(const StateRoot& state, Survey& survey);

// Nothing if the store of lanes cannot be read: that is a damaged store.
void SurveyLanes(const StateRoot& state, Survey& survey);

// Stable lines: a word for the kind, then fields without blanks; see git-maco-status(1).
std::string SurveyPorcelain(const Survey& survey);

std::string SurveyText(const Survey& survey);

// Canonical JSON and a newline. Errors: kInvalid, kLimit.
Result<std::string> SurveyJson(const Survey& survey);

}  // namespace maco::status

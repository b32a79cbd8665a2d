// Survey: all runs of a repository, counted by their last events, those that need attention named.
// Printed as lines and as maco.status/1: git-maco-status(1).
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libcommon/auth/state_root.h"
#include "libcommon/base/result.h"
#include "libcommon/state/run_sight.h"

namespace maco::status {

struct Attention {
  RunSight sight;
  RunVerdict verdict;
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

  bool quiet() const { return !moved && uncertain.empty() && damaged.empty(); }
};

// Errors: kPermission (the directory of runs), kLimit (more than 1,000,000 runs), kIo.
Result<Survey> SurveyRuns(const StateRoot& state, std::string state_root);

// Adds one run. Pure.
void Count(RunSight sight, Survey& survey);

std::string SurveyText(const Survey& survey);

// Canonical JSON and a newline. Errors: kInvalid, kLimit.
Result<std::string> SurveyJson(const Survey& survey);

}  // namespace maco::status

// The space that finished runs take, and what a policy would free (PRN-04).
// Printed as a line and in maco.status/1: git-maco-status(1).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libcommon/auth/json.h"
#include "libcommon/state/retention.h"

namespace maco::status {

struct SpaceSurvey {
  std::vector<RetainedRun> runs;  // those with a final record
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> prunable_runs;
  std::uint64_t prunable_bytes = 0;

  void Add(const RunSight& sight);
  // Files are not verified here: a run that was changed counts, and is kept when it comes to it.
  void Apply(const RetentionPolicy& policy, const std::map<std::string, std::string>& needed,
             std::uint64_t now_us);
};

std::string SpaceText(const SpaceSurvey& survey);
Json SpaceJson(const SpaceSurvey& survey);

}  // namespace maco::status

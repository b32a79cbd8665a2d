// Sums over final records.
// Contract: git-maco/status/space_lines.h.
#include "git-maco/status/space_lines.h"

#include <algorithm>

#include "git-maco/status/line.h"

namespace maco::status {

void SpaceSurvey::Add(const RunSight& sight) {
  if (sight.finalization) {
    runs.push_back(RetentionOf(sight));
    bytes += runs.back().bytes;
  }
}

void SpaceSurvey::Apply(const RetentionPolicy& policy,
                        const std::map<std::string, std::string>& needed, std::uint64_t now_us) {
  std::ranges::sort(runs, {}, &RetainedRun::time_us);
  HoldBack(needed, runs);
  Decide(policy, now_us, runs);
  prunable_runs = 0;
  for (const auto& run : runs) {
    if (run.deleted) {
      ++*prunable_runs;
      prunable_bytes += run.bytes;
    }
  }
}

std::string SpaceText(const SpaceSurvey& survey) {
  if (survey.runs.empty()) {
    return {};
  }
  std::string text = std::to_string(survey.bytes) + " bytes in " +
                     std::to_string(survey.runs.size()) + " finished runs";
  if (survey.prunable_runs) {
    text += "; the policy would delete " + std::to_string(*survey.prunable_runs) + " with " +
            std::to_string(survey.prunable_bytes) + " bytes";
  }
  return Line("space", text) +
         Next(survey.prunable_runs.value_or(0) != 0 ? "git maco prune -n" : "");
}

Json SpaceJson(const SpaceSurvey& survey) {
  return {{"runs", survey.runs.size()},
          {"bytes", survey.bytes},
          {"prunable_runs", survey.prunable_runs ? Json(*survey.prunable_runs) : Json()},
          {"prunable_bytes", survey.prunable_runs ? Json(survey.prunable_bytes) : Json()}};
}

}  // namespace maco::status

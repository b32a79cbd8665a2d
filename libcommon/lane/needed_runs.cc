// Attempts at steps; writers and validations of lanes.
// Contract: libcommon/lane/needed_runs.h.
#include "libcommon/lane/needed_runs.h"

#include "libcommon/lane/lane_registry.h"
#include "libcommon/state/steps.h"

namespace maco {

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
    return Fail(table.damaged.front());
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

}  // namespace maco

// --lane: the workspace is a lane of the registry, held by a lease as long as the run lives
// (ADM-01, ADM-02, WT-08, WT-09). Contract: docs/formats/lane.md.
#pragma once

#include <optional>
#include <string>

#include "libcommon/auth/state_root.h"
#include "libcommon/base/result.h"
#include "libcommon/lane/lane_registry.h"
#include "maco-run/options.h"

namespace maco::run {

struct ChosenLane {
  Lane lane;
  UniqueFd lease;
  std::string candidate;  // that is to be validated; empty: none
  bool writes = false;
};

// Finds the lane, takes its lease, and puts workspace, profile and writable roots into `request`:
// the whole lane, or with --write-claims what it has claimed (a directory that is not there yet is
// made). With --validates the lane is only read, and has to hold exactly that candidate. Errors:
// kNotFound, kRefused (not ready, moved by hand, another candidate), kBusy, kInvalid, kIo.
Result<ChosenLane> ChooseLane(const StateRoot& state, const Options& options, Request& request);

// Puts the run on record with the lane, durably, before it starts.
Result<void> RecordLaneRun(const StateRoot& state, const ChosenLane& chosen,
                           const std::string& run_id);

// After a validation: looks whether the lane still holds the candidate, and only then lets the run
// count. Errors: kRefused (it holds something else), those of opening the state.
Result<void> ConfirmValidation(const std::string& common_dir, const ChosenLane& chosen,
                               const std::string& run_id);

}  // namespace maco::run

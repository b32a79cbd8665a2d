// Steps of a named run: which confined run did which step of a script, and whether it may be
// skipped, repeated or must be decided by an operator. Contract: docs/formats/step.md. JRN-04, -05.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libcommon/auth/json.h"
#include "libcommon/auth/state_root.h"
#include "libcommon/base/result.h"
#include "libcommon/state/run_sight.h"
#include "libcommon/state/worktree_state.h"

namespace maco {

// One attempt at a step: a record of the steps journal.
struct StepAttempt {
  std::string step;
  std::string run;             // id of the confined run
  std::string command_sha256;  // hex, over what was requested: see step.md
  bool validation = false;     // it is done again whenever the script is
  WorktreePlace place;
  Json before;  // state of the worktree, as CaptureWorktree has it
  std::uint64_t time_us = 0;
};

// A journal record from it, and back. Errors: kCorrupt.
Json EncodeAttempt(const StepAttempt& attempt);
Result<StepAttempt> DecodeAttempt(const Json& event);

// An attempt together with what its run shows now.
struct StepSight {
  StepAttempt attempt;
  RunSight run;
};

// All attempts of a named run, in order. Verifies the steps journal and the journal of each run.
// Errors: kNotFound (no such run), those of opening a journal.
Result<std::vector<StepSight>> ReadSteps(const StateRoot& state, const std::string& run_name);

// The runs that are attempts at steps of any named run, with "RUN STEP" for people: what a script
// will ask for when it goes on. Errors: as ReadSteps.
Result<std::map<std::string, std::string>> RunsOfSteps(const StateRoot& state);

enum class StepState {
  kNotDone,    // never begun, refused, or an operator says that it did not happen
  kDone,       // proven and successful, or an operator says that it happened
  kFailed,     // proven, and it ended with another status than 0 or was ended
  kUncertain,  // it may have happened: only an operator can tell
  kRunning,    // a process holds the run
  kDamaged,    // its journal does not verify
};

const char* StepStateName(StepState state);

// What became of one attempt. Pure.
StepState StateOf(const StepSight& sight);

// Whether the worktree is as the attempt `index` left it, but for what later attempts of the same
// run did to it in an unbroken chain: each began with the state that the one before left. Pure.
// `current` as CaptureWorktree has it. Returns what differs, empty if it holds.
std::string BindingDifference(const std::vector<StepSight>& attempts, std::size_t index,
                              const Json& current);

// Index of the last attempt at `step`, or attempts.size().
std::size_t LastAttempt(const std::vector<StepSight>& attempts, const std::string& step);

}  // namespace maco

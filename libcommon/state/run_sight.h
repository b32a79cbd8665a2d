// RunSight: what the directory of one run shows, and what follows from it.
// Contract: docs/formats/run.md ("What a reader concludes"). Requirement JRN-04.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "libcommon/auth/json.h"
#include "libcommon/auth/state_root.h"
#include "libcommon/base/error.h"
#include "libcommon/os/directory.h"
#include "libcommon/state/finalization.h"

namespace maco {

struct RunSight {
  std::string id;              // name of the directory
  std::optional<Error> error;  // its journal cannot be read, or does not verify
  std::uint64_t records = 0;   // in its journal, those that no head names included
  bool held = false;           // a maco-run holds the journal's lock
  // Of the records that a head names, but for the final one; empty if there are none.
  std::string last_event;
  std::string unnamed_event;                 // of a record that a crash left behind the head
  std::uint64_t started_us = 0;              // of command_started, since 1970
  Json command;                              // as in the evidence; null before run_planned
  std::string evidence_failure;              // of a finished run: why its evidence does not count
  std::optional<std::uint64_t> exit_status;  // of command_completed: what maco-run returned
  // An operator's word: "happened", "did-not-happen", "abandoned", or none.
  std::string resolution;
  std::optional<Finalization> finalization;  // the last record, if it is that
  bool copied = false;          // since that record the repository was copied and rebound
  std::string evidence_sha256;  // hex, of the finishing event
  bool publishable = false;     // of the finishing event; counts only without evidence_failure
  Json worktree;                // the state that the command left, or an operator saw; else null
};

// Looks at runs/<id>; whatever is wrong with it is part of the answer, so that it is no other run's
// problem. Verifies the whole journal and, of a finished run, the evidence.
RunSight LookAtRun(const StateRoot& state, const Directory& runs, const std::string& id);

// The same without the directory of runs at hand; a run that does not exist has no event.
RunSight LookAtRun(const StateRoot& state, const std::string& id);

enum class RunKind { kRunning, kIdle, kUncertain, kDamaged };

struct RunVerdict {
  RunKind kind = RunKind::kIdle;  // kIdle: finished, or nothing was ever started
  std::string message;            // only if uncertain or damaged
  std::string remedy;
};

// Pure.
RunVerdict Conclude(const RunSight& sight);

}  // namespace maco

// A step of a named run: whether it is to be done now, and its place on record (JRN-04, JRN-05).
// Contract: docs/formats/step.md, maco-run(1) "Steps".
#pragma once
#include <optional>
#include <string>

#include "libcommon/auth/state_root.h"
#include "libcommon/base/result.h"
#include "libcommon/log/log_writer.h"
#include "libcommon/state/steps.h"
#include "maco-run/options.h"
#include "maco-run/spec/run_spec.h"

namespace maco::run {

// Holds the steps journal, and its lock, for the life of the object.
class Step {
 public:
  // Opens the journal of the named run, or begins it. Errors: kBusy (a step of it is going on),
  // those of opening a journal.
  static Result<Step> Open(const StateRoot& state, const Options& options);

  // The id of the run that did this step, if it is not to be done again; nothing if it is. `spec`
  // gets the place whose state is recorded. Errors: kRefused (uncertain, damaged, another command,
  // or the worktree is not as the step left it), those of CaptureWorktree.
  Result<std::optional<std::string>> Decide(const StateRoot& state, RunSpec& spec);

  // Puts the attempt on record, before the run is planned. Errors: kLimit, kIo.
  Result<void> Plan(const std::string& run_id);

 private:
  Step(LogWriter journal, const Options& options);
  Error Stop(const StepSight& last, StepState state) const;

  LogWriter journal_;
  const Options& options_;
  StepAttempt attempt_;
};

// What the caller of a step that is not done again gets: a line on standard error, the evidence,
// the result. Returns the exit status, 0. Errors: kExists (another file is in the result's place),
// kCorrupt (what is kept is not what the evidence says), kIo.
Result<int> DeliverDoneStep(const StateRoot& state, const Options& options,
                            const std::string& run_id);

}  // namespace maco::run

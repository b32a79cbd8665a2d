// The decision about a step, its record, and what a step that was done before hands out.
// Contract: maco-run/step.h.
#include "maco-run/step.h"

#include <fcntl.h>
#include <unistd.h>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/clock.h"
#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"
#include "libcommon/base/text.h"
#include "libcommon/os/bounded_read.h"
#include "libcommon/state/journals.h"
#include "libcommon/state/run_event.h"
#include "maco-run/result_file.h"

namespace maco::run {
namespace {

constexpr char kTool[] = "maco-run";

// What makes two requests the same step: command, place, access, environment; not the limits.
Result<std::string> CommandDigest(const RunSpec& spec) {
  const auto hex = [](const std::string& text) { return ToHex(AsBytes(text)); };
  Json value = {{"profile", ProfileName(spec.profile)}, {"directory", hex(spec.directory)}};
  for (const auto& word : spec.command) {
    value["command"].push_back(hex(word));
  }
  for (const auto& variable : spec.added_variables) {
    value["variables"].push_back(hex(variable));
  }
  for (const auto& root : spec.roots) {
    value["roots"].push_back({hex(root.path), root.writable});
  }
  std::string text;
  MACO_ASSIGN(text, Canonicalize(value));
  return ToHex(Sha256(AsBytes(text)));
}

// The document that the run's journal names, and no other.
Result<std::string> ReadEvidence(const StateRoot& state, const std::string& run_id) {
  const RunSight sight = LookAtRun(state, run_id);
  UniqueFd fd;
  MACO_ASSIGN(fd, state.dir().OpenFile(std::string(kRunsName) + "/" + run_id + "/" + kEvidencePath,
                                       O_RDONLY));
  std::string text;
  MACO_ASSIGN(text, ReadAll(fd.get(), kMaxJsonBytes));
  // A step that an operator resolved has no evidence of its end to be compared with.
  if (!sight.evidence_sha256.empty() && ToHex(Sha256(AsBytes(text))) != sight.evidence_sha256) {
    return Fail(Code::kCorrupt, "the evidence of run " + run_id + " is not what its journal names",
                "git maco journal verify run/" + run_id);
  }
  return text;
}

}  // namespace

Step::Step(LogWriter journal, const Options& options)
    : journal_(std::move(journal)), options_(options) {
  attempt_.step = options.step_name;
  attempt_.validation = options.validation;
}

Result<Step> Step::Open(const StateRoot& state, const Options& options) {
  auto journal = OpenOrCreate(state, Journal::OfSteps(options.run_name));
  if (!journal) {
    return Fail(journal.error().code == Code::kBusy
                    ? MakeError(Code::kBusy, "a step of run '" + options.run_name + "' is going on",
                                "wait until it is over; see 'git maco status'")
                    : std::move(journal).error());
  }
  return Step(*std::move(journal), options);
}

Error Step::Stop(const StepSight& last, StepState state) const {
  const std::string what = "step '" + options_.step_name + "' of run '" + options_.run_name + "'";
  const std::string resolve = "find out what it did, then: git maco journal resolve " +
                              options_.run_name + " " + options_.step_name +
                              " --happened | --did-not-happen --note TEXT";
  switch (state) {
    case StepState::kDamaged:
      return MakeError(Code::kRefused, what + " has a damaged journal, run " + last.attempt.run,
                       "git maco journal verify run/" + last.attempt.run);
    case StepState::kRunning:
      return MakeError(Code::kBusy, what + " is going on", "wait until it is over");
    default:
      return MakeError(
          Code::kRefused,
          what + " is uncertain: run " + last.attempt.run + " may have done it, in part or whole",
          resolve);
  }
}

Result<std::optional<std::string>> Step::Decide(const StateRoot& state, RunSpec& spec) {
  MACO_ASSIGN(attempt_.command_sha256, CommandDigest(spec));
  attempt_.place = *spec.bound_worktree;
  MACO_ASSIGN(attempt_.before, CaptureWorktree(attempt_.place));
  std::vector<StepSight> attempts;
  MACO_ASSIGN(attempts, ReadSteps(state, options_.run_name));
  const std::size_t index = LastAttempt(attempts, options_.step_name);
  if (index == attempts.size()) {
    return std::optional<std::string>();
  }
  const StepSight& last = attempts[index];
  const StepState found = StateOf(last);
  if (found == StepState::kUncertain || found == StepState::kDamaged ||
      found == StepState::kRunning) {
    return Fail(Stop(last, found));
  }
  if (found != StepState::kDone) {
    return std::optional<std::string>();
  }
  const std::string what = "step '" + options_.step_name + "' of run '" + options_.run_name + "'";
  if (last.attempt.command_sha256 != attempt_.command_sha256) {
    return Fail(Code::kRefused, what + " was done with another command, place or environment",
                "begin a run under a new name");
  }
  const std::string difference = BindingDifference(attempts, index, attempt_.before);
  if (!difference.empty()) {
    return Fail(Code::kRefused,
                what + " was done, but the worktree is not as it left it: " + difference,
                "restore it, or begin a run under a new name");
  }
  if (options_.validation) {
    return std::optional<std::string>();  // JRN-05: validation is done again
  }
  return std::optional(last.attempt.run);
}

Result<void> Step::Plan(const std::string& run_id) {
  attempt_.run = run_id;
  attempt_.time_us = WallMicros();
  std::string text;
  MACO_ASSIGN(text, Canonicalize(EncodeAttempt(attempt_)));
  MACO_TRY(journal_.Append(AsBytes(text), Durability::kRecordAndHead));
  return {};
}

Result<int> DeliverDoneStep(const StateRoot& state, const Options& options,
                            const std::string& run_id) {
  Note(kTool, "step '" + options.step_name + "' of run '" + options.run_name +
                  "' was done by run " + run_id + "; it is not done again");
  std::string evidence;
  MACO_ASSIGN(evidence, ReadEvidence(state, run_id));
  if (options.request.with_result) {
    MACO_TRY(RestoreResult(state, run_id, evidence, options.result_file));
  }
  evidence += "\n";
  if (options.json) {
    MACO_TRY(WriteAll(STDOUT_FILENO, AsBytes(evidence)));
  }
  if (options.evidence_fd >= 0) {
    MACO_TRY(WriteAll(options.evidence_fd, AsBytes(evidence)));
  }
  return kExitOk;
}

}  // namespace maco::run

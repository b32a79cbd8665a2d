// `git maco journal resolve`: an operator's word about a run whose outcome is uncertain (JRN-04).
// Contract: git-maco-journal(1), docs/formats/run.md ("run_resolved").
#include <unistd.h>

#include <map>
#include <vector>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/byte_codec.h"
#include "libcommon/base/clock.h"
#include "libcommon/base/exit_code.h"
#include "libcommon/base/random_id.h"
#include "libcommon/base/report.h"
#include "libcommon/base/text.h"
#include "libcommon/cli/output.h"
#include "libcommon/state/journals.h"
#include "libcommon/state/run_event.h"
#include "libcommon/state/steps.h"
#include "maco-journal/place.h"
#include "maco-journal/verbs.h"

namespace maco::journal {
namespace {

constexpr std::size_t kMaxNote = 4096;
constexpr char kAbandoned[] = "abandoned";

struct Target {
  RunSight sight;
  bool uncertain = false;
  std::optional<WorktreePlace> place;  // of a step: the state is recorded with the word
};

Result<Target> TargetOfStep(const StateRoot& state, const std::string& run,
                            const std::string& step) {
  std::vector<StepSight> steps;
  MACO_ASSIGN(steps, ReadSteps(state, run));
  const std::size_t index = LastAttempt(steps, step);
  if (index == steps.size()) {
    return Fail(Code::kNotFound, "run '" + run + "' has no step '" + step + "'",
                "git maco journal resume " + run + " names them");
  }
  StepSight& last = steps[index];
  const bool uncertain = StateOf(last) == StepState::kUncertain;
  return Target{std::move(last.run), uncertain, std::move(last.attempt.place)};
}

Result<Target> TargetOfRun(const StateRoot& state, const std::string& name) {
  JournalList inventory;
  MACO_ASSIGN(inventory, ListJournals(state));
  Journal journal;
  MACO_ASSIGN(journal, FindJournal(inventory, name));
  if (journal.kind != JournalKind::kRun) {
    return Fail(Code::kInvalid, "'" + name + "' is no run",
                "name the id of a run, or a run with steps and the step");
  }
  RunSight sight = LookAtRun(state, journal.object_id);
  const bool uncertain =
      Conclude(sight).kind == RunKind::kUncertain || sight.last_event == kCommandUnproven;
  return Target{std::move(sight), uncertain, std::nullopt};
}

// A run may be given up that nothing else has finalized, or only before it was copied, and that no
// step waits for.
Result<void> CheckAbandoned(const StateRoot& state, const Target& target) {
  const RunSight& sight = target.sight;
  if (sight.error) {
    return Fail(*sight.error);
  }
  if (sight.held) {
    return Fail(Code::kBusy, "run " + sight.id + " is going on", "wait until it is over");
  }
  if (sight.copied) {
    Directory run;
    MACO_ASSIGN(run, OpenJournalDirectory(state, Journal::OfRun(sight.id)));
    MACO_TRY(CheckFinalization(run, state.identity().rebinds, *sight.finalization));
  } else if (sight.finalization) {
    return Fail(Code::kRefused, "run " + sight.id + " has a final record already",
                "git maco journal show run/" + sight.id);
  }
  if (sight.records == 0) {
    return Fail(Code::kRefused,
                "run " + sight.id + " was never begun and has no journal to write to",
                "it takes no space; nothing is to be done");
  }
  std::map<std::string, std::string> steps;
  MACO_ASSIGN(steps, RunsOfSteps(state));
  const auto step = steps.find(sight.id);
  if (step != steps.end()) {
    return Fail(Code::kRefused, "run " + sight.id + " is an attempt at step '" + step->second + "'",
                "say whether it happened: git maco journal resolve");
  }
  return {};
}

// The operator's word, and the final record of what the run has left, as one batch.
Result<void> Write(const StateRoot& state, const Target& target, LogWriter& log, Json event,
                   const std::string& outcome) {
  Directory run;
  MACO_ASSIGN(run, OpenJournalDirectory(state, Journal::OfRun(target.sight.id)));
  const auto finalization = TakeFinalization(run, state.identity().rebinds, false, outcome);
  std::vector<std::string> texts(1);
  MACO_ASSIGN(texts[0], Canonicalize(event));
  if (finalization) {
    Json last = Encode(*finalization);
    last["schema"] = event["schema"];
    last["time_us"] = event["time_us"];
    texts.emplace_back();
    MACO_ASSIGN(texts[1], Canonicalize(last));
  } else if (outcome == kAbandoned) {
    return Fail(finalization.error());
  } else {
    Note(kTool,
         "the run gets no final record, so it is never pruned: " + Describe(finalization.error()));
  }
  std::vector<std::span<const std::uint8_t>> batch;
  for (const auto& text : texts) {
    batch.push_back(AsBytes(text));
  }
  MACO_TRY(log.AppendGroup(batch, Durability::kRecordAndHead));
  return log.Close();
}

Result<void> CheckTarget(const Target& target) {
  const RunSight& sight = target.sight;
  if (sight.error) {
    return Fail(*sight.error);
  }
  if (sight.held) {
    return Fail(Code::kBusy, "run " + sight.id + " is going on", "wait until it is over");
  }
  if (!sight.resolution.empty()) {
    return Fail(Code::kRefused,
                "run " + sight.id + " is resolved already: '" + sight.resolution + "'",
                "git maco journal show run/" + sight.id);
  }
  if (!target.uncertain) {
    return Fail(Code::kRefused,
                "the outcome of run " + sight.id + " is certain: " +
                    (sight.last_event.empty() ? "nothing was begun" : sight.last_event),
                "git maco journal show run/" + sight.id);
  }
  return {};
}

}  // namespace

Result<int> Resolve(const Options& options) {
  if (options.note.size() > kMaxNote || !IsUtf8(options.note)) {
    return Fail(Code::kInvalid, "the note is not UTF-8, or longer than 4096 bytes");
  }
  auto state = OpenToWrite();
  if (!state) {
    return Fail(std::move(state).error());
  }
  Target target;
  if (options.names.size() == 2) {
    MACO_ASSIGN(target, TargetOfStep(*state, options.names[0], options.names[1]));
  } else {
    MACO_ASSIGN(target, TargetOfRun(*state, options.names[0]));
  }
  if (options.abandoned) {
    MACO_TRY(CheckAbandoned(*state, target));
  } else {
    MACO_TRY(CheckTarget(target));
  }
  const std::string outcome = options.abandoned  ? kAbandoned
                              : options.happened ? "happened"
                                                 : "did-not-happen";
  const std::string words = "run " + target.sight.id + ": " + outcome + "\n";
  if (options.dry_run) {
    MACO_TRY(Print("would record for " + words));
    return kExitOk;
  }
  // The lock of the journal is held from here on: nobody resolves it twice.
  auto log = OpenForAppend(*state, Journal::OfRun(target.sight.id));
  if (!log) {
    return Fail(std::move(log).error());
  }
  if (log->last_sequence() != target.sight.records) {
    return Fail(Code::kBusy, "run " + target.sight.id + " was changed meanwhile", "try again");
  }
  Json event = {{"schema", "maco.run-event/1"}, {"event", kRunResolved}, {"outcome", outcome},
                {"note", options.note},         {"uid", getuid()},       {"time_us", WallMicros()}};
  if (target.place) {
    MACO_ASSIGN(event["worktree"], CaptureWorktree(*target.place));
  }
  MACO_TRY(Write(*state, target, *log, std::move(event), outcome));
  MACO_TRY(Print("recorded for " + words));
  return kExitOk;
}

}  // namespace maco::journal

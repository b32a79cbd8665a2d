// Reading and judging of steps.
// Contract: libcommon/state/steps.h, docs/formats/step.md.
#include "libcommon/state/steps.h"

#include <utility>

#include "libcommon/state/journals.h"
#include "libcommon/state/run_event.h"

namespace maco {
namespace {

constexpr char kStepPlanned[] = "step_planned";

// The state that an attempt left; null if none is on record.
const Json& StateAfter(const StepSight& sight) { return sight.run.worktree; }

}  // namespace

Json EncodeAttempt(const StepAttempt& attempt) {
  return {{"event", kStepPlanned},
          {"schema", "maco.step-event/1"},
          {"step", attempt.step},
          {"run", attempt.run},
          {"command_sha256", attempt.command_sha256},
          {"validation", attempt.validation},
          {"place", EncodePlace(attempt.place)},
          {"before", attempt.before},
          {"time_us", attempt.time_us}};
}

Result<StepAttempt> DecodeAttempt(const Json& event) {
  StepAttempt attempt;
  attempt.step = EventText(event, "step");
  attempt.run = EventText(event, "run");
  attempt.command_sha256 = EventText(event, "command_sha256");
  attempt.validation = EventFlag(event, "validation");
  attempt.time_us = EventUint(event, "time_us");
  if (EventText(event, "event") != kStepPlanned || !IsPlainName(attempt.step) ||
      !event.contains("place") || !event.contains("before")) {
    return Fail(Code::kCorrupt, "a record of a steps journal is malformed",
                "look at it with the version that wrote it");
  }
  attempt.before = event["before"];
  MACO_ASSIGN(attempt.place, DecodePlace(event["place"]));
  return attempt;
}

namespace {

Result<std::vector<StepAttempt>> ReadAttempts(const StateRoot& state, const std::string& run_name) {
  auto reader = OpenForReading(state, Journal::OfSteps(run_name));
  if (!reader) {
    return Fail(reader.error().code == Code::kNotFound
                    ? MakeError(Code::kNotFound,
                                "there is no run with steps named '" + run_name + "'",
                                "'git maco journal list' names them")
                    : std::move(reader).error());
  }
  std::vector<StepAttempt> out;
  for (;;) {
    std::optional<LogEntry> entry;
    MACO_ASSIGN(entry, reader->Next());
    if (!entry) {
      return out;
    }
    Json event;
    MACO_ASSIGN(event, ParseEvent(entry->payload, entry->sequence));
    StepAttempt attempt;
    MACO_ASSIGN(attempt, DecodeAttempt(event));
    out.push_back(std::move(attempt));
  }
}

}  // namespace

Result<std::vector<StepSight>> ReadSteps(const StateRoot& state, const std::string& run_name) {
  std::vector<StepAttempt> attempts;
  MACO_ASSIGN(attempts, ReadAttempts(state, run_name));
  std::vector<StepSight> out;
  for (auto& attempt : attempts) {
    RunSight run = LookAtRun(state, attempt.run);
    out.push_back({std::move(attempt), std::move(run)});
  }
  return out;
}

Result<std::map<std::string, std::string>> RunsOfSteps(const StateRoot& state) {
  JournalList inventory;
  MACO_ASSIGN(inventory, ListJournals(state));
  std::map<std::string, std::string> out;
  for (const auto& journal : inventory.journals) {
    if (journal.kind != JournalKind::kSteps) {
      continue;
    }
    const std::string name = journal.name.substr(journal.name.find('/') + 1);
    std::vector<StepAttempt> attempts;
    MACO_ASSIGN(attempts, ReadAttempts(state, name));
    for (const auto& attempt : attempts) {
      out[attempt.run] = name + " " + attempt.step;
    }
  }
  return out;
}

const char* StepStateName(StepState state) {
  switch (state) {
    case StepState::kNotDone:
      return "not-done";
    case StepState::kDone:
      return "done";
    case StepState::kFailed:
      return "failed";
    case StepState::kUncertain:
      return "uncertain";
    case StepState::kRunning:
      return "running";
    case StepState::kDamaged:
      return "damaged";
  }
  return "";
}

StepState StateOf(const StepSight& sight) {
  const RunSight& run = sight.run;
  if (run.error) {
    return StepState::kDamaged;
  }
  if (run.held) {
    return StepState::kRunning;
  }
  if (!run.resolution.empty()) {
    return run.resolution == "happened" ? StepState::kDone : StepState::kNotDone;
  }
  if (Conclude(run).kind == RunKind::kUncertain || run.last_event == kCommandUnproven) {
    return StepState::kUncertain;
  }
  if (run.last_event == kCommandCompleted) {
    const bool success = run.exit_status == 0U && run.publishable;
    return success ? StepState::kDone : StepState::kFailed;
  }
  return StepState::kNotDone;
}

std::string BindingDifference(const std::vector<StepSight>& attempts, std::size_t index,
                              const Json& current) {
  Json expected = StateAfter(attempts[index]);
  std::string difference = WorktreeDifference(expected, current);
  for (std::size_t next = index + 1; next < attempts.size() && !difference.empty(); ++next) {
    const StepSight& later = attempts[next];
    const bool continues = later.attempt.before == expected && !StateAfter(later).is_null();
    if (continues) {
      expected = StateAfter(later);
      difference = WorktreeDifference(expected, current);
    }
  }
  return difference;
}

std::size_t LastAttempt(const std::vector<StepSight>& attempts, const std::string& step) {
  for (std::size_t i = attempts.size(); i > 0; --i) {
    if (attempts[i - 1].attempt.step == step) {
      return i - 1;
    }
  }
  return attempts.size();
}

}  // namespace maco

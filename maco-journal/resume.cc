// `git maco journal resume`: what of a named run is done, what holds, and what stands in the way of
// running its script again (JRN-05). Changes nothing. Contract: git-maco-journal(1).
#include <set>

#include "libcommon/base/exit_code.h"
#include "libcommon/base/text.h"
#include "libcommon/cli/document.h"
#include "libcommon/cli/output.h"
#include "libcommon/state/journals.h"
#include "libcommon/state/steps.h"
#include "maco-journal/checkpoint_file.h"
#include "maco-journal/place.h"
#include "maco-journal/verbs.h"

namespace maco::journal {
namespace {

struct StepLine {
  const StepSight* sight = nullptr;
  StepState state = StepState::kNotDone;
  std::string difference;  // of a step that is done: why it no longer holds
  std::string remedy;
  bool stops = false;
};

StepLine Judge(const std::string& run, const std::vector<StepSight>& steps, std::size_t index) {
  StepLine line;
  line.sight = &steps[index];
  line.state = StateOf(steps[index]);
  const std::string& step = steps[index].attempt.step;
  switch (line.state) {
    case StepState::kDone: {
      const auto current = CaptureWorktree(steps[index].attempt.place);
      line.difference =
          current ? BindingDifference(steps, index, *current) : current.error().message;
      line.stops = !line.difference.empty();
      line.remedy = line.stops ? "restore the worktree, or begin a run under a new name" : "";
      break;
    }
    case StepState::kUncertain:
      line.stops = true;
      line.remedy = "find out what it did, then: git maco journal resolve " + run + " " + step +
                    " --happened | --did-not-happen --note TEXT";
      break;
    case StepState::kDamaged:
      line.stops = true;
      line.remedy = "git maco journal verify run/" + steps[index].attempt.run;
      break;
    case StepState::kRunning:
      line.stops = true;
      line.remedy = "wait until it is over";
      break;
    case StepState::kNotDone:
    case StepState::kFailed:
      break;
  }
  return line;
}

// The last attempt at each step, in the order in which the steps were begun first.
std::vector<StepLine> Lines(const std::string& run, const std::vector<StepSight>& steps) {
  std::vector<StepLine> out;
  std::set<std::string> seen;
  for (const auto& sight : steps) {
    if (seen.insert(sight.attempt.step).second) {
      out.push_back(Judge(run, steps, LastAttempt(steps, sight.attempt.step)));
    }
  }
  return out;
}

std::string What(const StepLine& line) {
  if (line.state == StepState::kDone && line.stops) {
    return "done, but the worktree is not as it left it: " + line.difference;
  }
  if (line.state == StepState::kDone) {
    return line.sight->attempt.validation ? "done; a validation, so it is done again"
                                          : "done; it is not done again";
  }
  if (line.state == StepState::kFailed) {
    return "failed; it is done again";
  }
  return line.state == StepState::kNotDone ? "not done" : StepStateName(line.state);
}

Json JsonOf(const StepLine& line) {
  return {{"step", line.sight->attempt.step},
          {"run", line.sight->attempt.run},
          {"state", StepStateName(line.state)},
          {"validation", line.sight->attempt.validation},
          {"holds", line.state == StepState::kDone && !line.stops},
          {"stops", line.stops},
          {"difference", EscapeControl(line.difference)},
          {"remedy", EscapeControl(line.remedy)}};
}

}  // namespace

Result<int> Resume(const Options& options) {
  auto state = OpenToRead();
  if (!state) {
    return Fail(std::move(state).error());
  }
  std::string run = options.names.empty() ? "" : options.names.front();
  if (!options.checkpoint.empty()) {
    CheckpointFile checkpoint;
    MACO_ASSIGN(checkpoint, ReadCheckpoint(*state, options.checkpoint));
    MACO_TRY(CheckAgainstJournal(*state, checkpoint));
    run = checkpoint.run;
  }
  if (!IsPlainName(run)) {
    return Fail(Code::kInvalid, "'" + EscapeControl(run) + "' is no name of a run with steps");
  }
  std::vector<StepSight> steps;
  MACO_ASSIGN(steps, ReadSteps(*state, run));
  bool stops = false;
  std::string text;
  Json lines = Json::array();
  for (const auto& line : Lines(run, steps)) {
    stops = stops || line.stops;
    lines.push_back(JsonOf(line));
    text += Padded(line.sight->attempt.step, 24) + EscapeControl(What(line)) + "\n";
    if (!line.remedy.empty()) {
      text += "    fix: " + EscapeControl(line.remedy) + "\n";
    }
  }
  if (options.json) {
    MACO_TRY(PrintDocument("maco.resume/1",
                           {{"run", run}, {"steps", std::move(lines)}, {"ready", !stops}}));
  } else {
    MACO_TRY(Print(text + (stops ? "the script cannot go on yet\n" : "run the script again\n")));
  }
  return stops ? kExitNo : kExitOk;
}

}  // namespace maco::journal

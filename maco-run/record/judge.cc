// The stages of judgement, and what the end of a run must have shown.
// Contract: maco-run/record/judge.h.
#include "maco-run/record/judge.h"

#include <algorithm>

#include "maco-run/record/judge_gate.h"
#include "maco-run/record/judge_tools.h"

namespace maco::run {
namespace {

void CheckRelease(Judgement& judge) {
  const Json& planned = judge.Document("/planned_record");
  const Json& started = judge.Observed("/release/started_record");
  if (!planned.is_number_unsigned() || !started.is_number_unsigned() || started == 0U ||
      started.get<std::uint64_t>() - 1 != planned) {
    judge.Blame("release.started_record", "no durable record of the start right after the plan's");
  }
}

void CheckUnitEnd(Judgement& judge) {
  // The outer guardian leaves by itself, with status 0, after the counters were read.
  judge.Equal("/end/unit/active_state", "inactive");
  judge.Equal("/end/unit/result", "success");
  judge.Equal("/end/unit/exec_main_code", 1);
  judge.Equal("/end/unit/exec_main_status", 0);
}

void CheckEmpty(Judgement& judge) {
  const Json& left = judge.Observed("/end/processes_before_leave");
  const Json& main_pid = judge.Observed("/unit/main_pid");
  if (!left.is_array() || left.size() != 1 || left[0] != main_pid || main_pid.is_null()) {
    judge.Blame("end.processes_before_leave",
                "the cgroup held more than the outer guardian when the target had ended");
  }
  const Json& empty = judge.Observed("/end/cgroup");
  if (empty != "populated 0" && empty != "removed") {
    judge.Blame("end.cgroup", "the process tree was not proven empty");
  }
}

void CheckTarget(Judgement& judge) {
  const Json& status = judge.Observed("/end/target/wait_status");
  if (!status.is_number_unsigned() || status > 0xFFFFU) {
    judge.Blame("end.target.wait_status", "the guardian did not report how the target ended");
    return;
  }
  // As wait(2) writes it: either an exit code, or a signal and whether there is a core.
  const auto raw = status.get<unsigned>();
  const unsigned signal = raw & 0x7FU;
  const unsigned code = raw >> 8U;
  if (signal == 0x7FU || (signal == 0 && (raw & 0x80U) != 0) || (signal != 0 && code != 0)) {
    judge.Blame("end.target.wait_status", "is not the status of a process that has ended");
  }
  const Json expected = signal == 0 ? Json{{"exited", code}} : Json{{"signaled", signal}};
  const Json& outcome = judge.Document("/outcome/target");
  if (outcome != expected) {
    judge.Blame("end.target.wait_status", "the outcome says something else than the wait status");
  }
  if (!judge.Document("/outcome/exec_errno").is_null()) {
    judge.Blame("outcome.exec_errno", "the command could not be executed");
  }
  const Json& ended_by = judge.Document("/outcome/ended_by");
  if (ended_by != "target") {
    judge.Blame("outcome.ended_by", ended_by.is_string()
                                        ? "the run was ended by " + ended_by.get<std::string>()
                                        : "it is not known what ended the run");
  }
}

void CheckResultFile(Judgement& judge) {
  const Json& requested = judge.Document("/requested/result");
  if (requested.is_null()) {
    if (!judge.Observed("/end/result").is_null()) {
      judge.Blame("end.result", "was observed, but never requested");
    }
    return;
  }
  for (const char* member : {"device", "inode"}) {
    judge.Same(std::string("/end/result/") + member, std::string("/requested/result/") + member);
  }
  judge.Equal("/end/result/within_limit", true);
  judge.Equal("/end/result/links", 1U);
  judge.Equal("/end/result/mode", 0100600U);
  judge.Equal("/end/result/name_leads_to_it", true);
}

// A state root that the run made has a key that the run knows. Not "outcome.": what was observed is
// more than how the command ended.
void CheckNewStateRoots(Judgement& judge) {
  const Json& roots = judge.Document("/requested/roots");
  bool writable = false;
  if (roots.is_object()) {
    for (const auto& [path, root] : roots.items()) {
      writable = writable || (path != "/run/maco/result" && Member(root, "access") == "rw");
    }
  }
  const Json& found = judge.Observed("/end/new_state_roots");
  if (writable && found != 0U && found != kNotLookedAt) {
    judge.Blame("end.new_state_roots",
                found.is_number_unsigned()
                    ? "the run made a state root of git maco, whose key it knows"
                    : "it was not told whether the run made a state root");
  }
}

}  // namespace

bool FactsProven(const std::vector<std::string>& reasons) {
  return std::ranges::all_of(reasons, [](const std::string& reason) {
    return reason.starts_with("outcome.") || reason.starts_with("requested.");
  });
}

std::vector<std::string> Judge(const Json& evidence, Stage stage) {
  Judgement judge(evidence);
  JudgeGate(judge);
  if (stage == Stage::kEnd) {
    CheckRelease(judge);
    CheckTarget(judge);
    CheckUnitEnd(judge);
    CheckEmpty(judge);
    CheckResultFile(judge);
    CheckNewStateRoots(judge);
    if (judge.Document("/requested/profile") == "diagnostic") {
      judge.Blame("requested.profile", "a diagnostic run is never publishable");
    }
  }
  return judge.TakeReasons();
}

}  // namespace maco::run

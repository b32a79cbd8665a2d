// ConfinedRun: one run from its plan in the journal to its evidence.
// Steps: ARCHITECTURE.md, "A run". Events: docs/formats/run.md. Evidence: docs/formats/evidence.md.
#pragma once
#include <string>
#include <vector>

#include "libcommon/auth/json.h"
#include "libcommon/auth/state_root.h"
#include "libcommon/base/result.h"
#include "maco-run/options.h"
#include "maco-run/record/administrative.h"
#include "maco-run/record/run_store.h"
#include "maco-run/spec/root_scan.h"
#include "maco-run/spec/run_spec.h"
#include "maco-run/supervise/signals.h"
#include "maco-run/supervise/unit_run.h"
#include "maco-run/test_hooks.h"
#include "maco-run/timings.h"

namespace maco::run {

class ConfinedRun {
 public:
  // Borrows `options`, `hooks` and `signals`.
  ConfinedRun(const Options& options, const TestHooks& hooks, SignalSource& signals,
              StateRoot state, RunSpec spec, RunStore store);

  // Returns the exit status when the target was released, else why it was not: that is recorded
  // too, and nothing of the run is left.
  Result<int> Execute(UserManager manager, Json host, Timings timings);

 private:
  void Begin(Json host);
  Json& Observe(const char* member) { return evidence_["observations"][member]; }
  Result<void> Plan();
  Result<Cgroup> Verify(UnitRun& unit, const AtGate& gate);
  Result<void> Release(UnitRun& unit);
  int Conclude(UnitRun& unit, const Cgroup& cgroup, const TargetEnd& end);
  void ObserveLeft();
  void ObserveEnd(UnitRun& unit, const Cgroup& cgroup, const TargetEnd& end);
  Result<std::string> Record(Json event);
  void BindWorktree(Json& event);
  Result<void> Deliver(const std::string& evidence) const;
  int ExitStatus(const TargetEnd& end, const std::vector<std::string>& reasons);
  Error Refuse(Error error);

  const Options& options_;
  const TestHooks& hooks_;
  SignalSource& signals_;
  StateRoot state_;
  RunSpec spec_;
  RunStore store_;
  Json evidence_;
  AdministrativeFiles administrative_;  // just before release
  RootScan scan_;                       // just before release
  Timings timings_;
  std::vector<std::string> notes_;  // for stderr, when all is on record: it may make us wait
};

}  // namespace maco::run

// The orchestration of a run: resolve, scan, start, verify, release, watch, finish, prove.
// Contract: maco-run/run.h.
#include "maco-run/run.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/auth/state_root.h"
#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"
#include "libcommon/base/text.h"
#include "libcommon/os/tree_scan.h"
#include "maco-run/record/judge.h"
#include "maco-run/record/observations.h"
#include "maco-run/record/outcome.h"
#include "maco-run/record/run_store.h"
#include "maco-run/result_file.h"
#include "maco-run/spec/compose.h"
#include "maco-run/spec/environment.h"
#include "maco-run/supervise/signals.h"
#include "maco-run/supervise/unit_run.h"
#include "maco-run/surroundings.h"
#include "maco-run/timings.h"

namespace maco::run {
namespace {

constexpr char kTool[] = "maco-run";

Result<ScanCounts> ScanRoots(const RunSpec& spec) {
  ScanCounts counts;
  LinkLedger ledger;
  for (const auto& root : spec.roots) {
    if (root.scan) {
      MACO_TRY(ScanTree(root.directory, root.path, {spec.limits.scan_entries}, counts,
                        root.writable ? &ledger : nullptr));
    }
  }
  MACO_TRY(ledger.Check());
  return counts;
}

Json Counts(const ScanCounts& counts) {
  return {{"entries", counts.entries},
          {"directories", counts.directories},
          {"files", counts.files},
          {"links", counts.links}};
}

Json StreamMember(OutputPump& pump) {
  return {{"bytes", pump.total()},
          {"sha256", ToHex(pump.digest())},
          {"log_truncated", pump.truncated()},
          {"log_failed", pump.log_failed()}};
}

class Run {
 public:
  Run(const Options& options, SignalSource& signals, StateRoot state, RunSpec spec, RunStore store)
      : options_(options),
        signals_(signals),
        state_(std::move(state)),
        spec_(std::move(spec)),
        store_(std::move(store)) {}

  Result<int> Execute(UserManager manager, Json host, Timings timings) {
    timings_ = std::move(timings);
    Begin(std::move(host));
    std::uint64_t planned = 0;
    MACO_ASSIGN(planned, store_.Append({{"event", "run_planned"},
                                        {"requested", evidence_["requested"]}}));
    evidence_["planned_record"] = planned;
    timings_.Mark("journal_planned");
    auto unit = UnitRun::Start(std::move(manager), spec_, StreamsOf(), signals_);
    if (!unit) {
      return Refuse(std::move(unit).error());
    }
    timings_.Mark("unit_requested");
    auto gate = unit->AwaitGate();
    if (!gate) {
      unit->Finish(nullptr);
      return Refuse(std::move(gate).error());
    }
    timings_.Mark("gate_reached");
    auto cgroup = Verify(*unit, *gate);
    if (!cgroup) {
      unit->Finish(nullptr);
      return Refuse(std::move(cgroup).error());
    }
    auto released = Release(*unit);
    if (!released) {
      unit->Finish(&*cgroup);
      return Refuse(std::move(released).error());
    }
    const TargetEnd end = unit->Watch(*gate, *cgroup, spec_.limits);
    timings_.Mark("target_ended");
    return Conclude(*unit, *cgroup, end);
  }

 private:
  void Begin(Json host) {
    evidence_ = {{"schema", kEvidenceDomain},
                 {"run", spec_.id},
                 {"repository", state_.repository_id()},
                 {"unit", spec_.unit},
                 {"host", std::move(host)},
                 {"requested", ComposeRequested(spec_)},
                 {"observations", Json::object()},
                 {"measurements", Json::object()}};
    if (options_.request.with_result) {
      evidence_["requested"]["result"] = {{"device", store_.result_identity().device},
                                          {"inode", store_.result_identity().inode}};
    }
    // Without this first scan there is no run: the caller made it.
    Observe("scan") = {{"before_set_up", "clean"}};
  }

  Json& Observe(const char* member) { return evidence_["observations"][member]; }

  Streams StreamsOf() const {
    return {STDIN_FILENO, options_.json ? -1 : STDOUT_FILENO, STDERR_FILENO, store_.stdout_log(),
            store_.stderr_log()};
  }

  // Collects every observation of the gate and judges them. Returns the pinned cgroup.
  Result<Cgroup> Verify(UnitRun& unit, const AtGate& gate) {
    MACO_ASSIGN(Observe("inside"), DescribeReport(gate.report));
    MACO_ASSIGN(Observe("outside"), ObserveOutside(gate.sender));
    UserManager::Identity identity;
    MACO_ASSIGN(identity, unit.manager().ReadIdentity());
    Observe("unit") = {{"main_pid", identity.main_pid},
                       {"control_group", identity.control_group},
                       {"invocation_id", identity.invocation_id}};
    MACO_ASSIGN(Observe("properties"), unit.manager().ReadBack(ComposeProperties(spec_)));
    Cgroup cgroup;
    MACO_ASSIGN(cgroup, Cgroup::Pin(identity.control_group));
    MACO_ASSIGN(Observe("cgroup"), ObserveCgroup(cgroup, spec_.limits));
    timings_.Mark("observed");
    // Last, so that nothing lies between it and the release but the journal.
    ScanCounts counts;
    MACO_ASSIGN(counts, ScanRoots(spec_));
    Observe("scan")["before_release"] = "clean";
    evidence_["measurements"]["scan"] = Counts(counts);
    timings_.Mark("scanned_again");
    const auto reasons = Judge(evidence_, Stage::kGate);
    if (!reasons.empty()) {
      evidence_["reasons"] = reasons;
      return Fail(Code::kRefused, "refused: " + reasons.front(), "see 'git maco doctor'");
    }
    return cgroup;
  }

  Result<void> Release(UnitRun& unit) {
    std::uint64_t sequence = 0;
    MACO_ASSIGN(sequence, store_.Append({{"event", "command_started"},
                                         {"observations", evidence_["observations"]}}));
    Observe("release") = {{"started_record", sequence}};
    timings_.Mark("journal_started");
    return unit.Release();
  }

  Result<int> Conclude(UnitRun& unit, const Cgroup& cgroup, const TargetEnd& end) {
    evidence_["measurements"]["counters"] = ReadCounters(cgroup);
    const auto left = cgroup.Processes();
    const UnitEnd unit_end = unit.Finish(&cgroup);
    timings_.Mark("unit_ended");
    Json& observed = Observe("end");
    observed["target"] = Json::object();
    if (end.wait_status) {
      observed["target"]["wait_status"] = *end.wait_status;
    }
    if (left) {
      observed["processes_before_leave"] = *left;
    }
    observed["unit"] = {{"active_state", unit_end.state.active_state},
                        {"result", unit_end.state.result},
                        {"exec_main_code", unit_end.state.exec_main_code},
                        {"exec_main_status", unit_end.state.exec_main_status}};
    if (unit_end.population) {
      observed["cgroup"] = PopulationName(*unit_end.population);
    }
    if (options_.request.with_result) {
      observed["result"] = DescribeResultFile(store_);
      evidence_["measurements"]["result_bytes"] = ResultSize(store_);
    }
    evidence_["outcome"] = DescribeOutcome(end);
    evidence_["measurements"]["output"] = {{"stdout", StreamMember(unit.output())},
                                           {"stderr", StreamMember(unit.error_output())}};
    evidence_["measurements"]["processes_left_behind"] = end.leftovers;
    const auto reasons = Judge(evidence_, Stage::kEnd);
    evidence_["reasons"] = reasons;
    evidence_["publishable"] = reasons.empty();
    return Publish(end, reasons);
  }

  Result<int> Publish(const TargetEnd& end, const std::vector<std::string>& reasons) {
    auto written = WriteEvidence(reasons.empty() ? "command_completed" : "command_unproven");
    if (!written) {
      // The target ran: this must not look as if it had not.
      ::maco::Report(kTool, written.error());
      return kExitUnproven;
    }
    if (options_.request.with_result && reasons.empty()) {
      if (auto saved = SaveResult(store_, options_.result_file, spec_.limits.result_bytes);
          !saved) {
        ::maco::Report(kTool, saved.error());
        return kExitUnproven;
      }
    }
    return ExitStatus(end, reasons);
  }

  Result<void> WriteEvidence(const char* event) {
    timings_.Mark("concluded");
    evidence_["measurements"]["timings_us"] = timings_.ToJson();
    std::string text;
    MACO_ASSIGN(text, store_.WriteEvidence(state_, evidence_));
    MACO_TRY(store_.Append({{"event", event},
                            {"evidence_sha256", ToHex(Sha256(AsBytes(text)))},
                            {"publishable", evidence_["publishable"]}}));
    MACO_TRY(store_.Close());
    text.push_back('\n');
    if (options_.json) {
      MACO_TRY(WriteAll(STDOUT_FILENO, AsBytes(text)));
    }
    if (options_.evidence_fd >= 0) {
      MACO_TRY(WriteAll(options_.evidence_fd, AsBytes(text)));
    }
    return {};
  }

  int ExitStatus(const TargetEnd& end, const std::vector<std::string>& reasons) const {
    if (const auto note = OutcomeNote(end, spec_)) {
      Note(kTool, *note);
    }
    if (end.exec_errno != 0) {
      return end.exec_errno == ENOENT ? kExitNoCommand : kExitCannotExecute;
    }
    if (end.by == EndedBy::kTimeout && end.wait_status) {
      return kExitTimedOut;
    }
    // Ended by us for a reason that the note tells: the target's own status still says how.
    const bool unproven = std::ranges::any_of(reasons, [](const std::string& reason) {
      return !reason.starts_with("outcome.ended_by") && !reason.starts_with("requested.profile");
    });
    if (unproven) {
      Note(kTool, "not publishable: " + reasons.front());
      return kExitUnproven;
    }
    return OutcomeStatus(end);
  }

  // Nothing of the target ran. The refusal is evidence too.
  Result<int> Refuse(Error error) {
    evidence_["publishable"] = false;
    evidence_["refusal"] = EscapeControl(Describe(error));
    if (!evidence_.contains("reasons")) {
      evidence_["reasons"] = Json::array({EscapeControl(error.message)});
    }
    if (auto written = WriteEvidence("run_refused"); !written) {
      ::maco::Report(kTool, written.error());
    }
    return Fail(std::move(error));
  }

  const Options& options_;
  SignalSource& signals_;
  StateRoot state_;
  RunSpec spec_;
  RunStore store_;
  Json evidence_;
  Timings timings_;
};

}  // namespace

Result<int> ExecuteRun(const Options& options) {
  Timings timings;
  if (options.evidence_fd >= 0 && fcntl(options.evidence_fd, F_GETFD) < 0) {
    return Fail(Code::kInvalid,
                "--evidence-fd " + std::to_string(options.evidence_fd) + " is not open");
  }
  MACO_TRY(Cgroup::RequireUnified());
  auto signals = SignalSource::Open();
  if (!signals) {
    return Fail(std::move(signals).error());
  }
  auto manager = UserManager::Connect(geteuid());
  if (!manager) {
    return Fail(std::move(manager).error());
  }
  std::string version;
  MACO_ASSIGN(version, manager->Version());
  Json host;
  MACO_ASSIGN(host, DescribeHost(version));
  timings.Mark("connected");
  Surroundings surroundings;
  MACO_ASSIGN(surroundings, FindSurroundings());
  Directory common_dir;
  MACO_ASSIGN(common_dir, Directory::OpenPath(surroundings.common_dir));
  auto state = StateRoot::Open(common_dir);
  if (!state) {
    return Fail(std::move(state).error());
  }
  if (options.request.with_result) {
    MACO_TRY(CheckResultPath(options.result_file));
  }
  RunSpec spec;
  MACO_ASSIGN(spec, ResolveRun(options.request, surroundings));
  timings.Mark("resolved");
  MACO_TRY(ScanRoots(spec));
  timings.Mark("scanned");
  auto store = RunStore::Create(*state, spec.id);
  if (!store) {
    return Fail(std::move(store).error());
  }
  if (options.request.with_result) {
    spec.binds.push_back({store->result_path(), kResultPath, false, false});
    spec.roots.push_back({kResultPath, true, Directory(), store->result_identity(), false});
  }
  Run run(options, *signals, std::move(*state), std::move(spec), std::move(*store));
  return run.Execute(std::move(*manager), std::move(host), std::move(timings));
}

}  // namespace maco::run

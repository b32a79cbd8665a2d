// Start, verify, release, watch, finish, prove, record.
// Contract: maco-run/confined_run.h.
#include "maco-run/confined_run.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"
#include "libcommon/base/text.h"
#include "libcommon/os/mountinfo.h"
#include "libcommon/state/run_event.h"
#include "maco-run/record/judge.h"
#include "maco-run/record/left_behind.h"
#include "maco-run/record/observations.h"
#include "maco-run/record/outcome.h"
#include "maco-run/result_file.h"
#include "maco-run/spec/compose.h"
#include "maco-run/spec/repositories.h"

namespace maco::run {
namespace {

constexpr char kTool[] = "maco-run";

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

// At the end, when no process of the run is left that could hold a file without a name.
std::uint64_t DiskTaken(const TargetEnd& end, DiskUse& disk) {
  if (end.by == EndedBy::kDisk) {
    return end.disk_bytes;
  }
  const auto deadline = Monotonic::now() + kLastLookFuse;
  const auto taken = disk.Measure({}, [&] { return Monotonic::now() < deadline; });
  return taken ? *taken : disk.Estimate();
}

// The command for people who must find out what an uncertain run did; cut if it is long.
Json BoundedCommand(const Json& requested) {
  constexpr std::size_t kMaxBytes = 8192;
  Json out = Json::array();
  std::size_t bytes = 0;
  for (const auto& word : requested.value("command", Json::array())) {
    const std::string text = word.is_string() ? word.get<std::string>() : word.dump();
    bytes += text.size();
    if (bytes > kMaxBytes) {
      out.push_back("...");
      break;
    }
    out.push_back(word);
  }
  return out;
}

Result<std::string> CanonicalDigest(const Json& value) {
  std::string text;
  MACO_ASSIGN(text, Canonicalize(value));
  return ToHex(Sha256(AsBytes(text)));
}

}  // namespace

ConfinedRun::ConfinedRun(const Options& options, const TestHooks& hooks, SignalSource& signals,
                         StateRoot state, RunSpec spec, RunStore store)
    : options_(options),
      hooks_(hooks),
      signals_(signals),
      state_(std::move(state)),
      spec_(std::move(spec)),
      store_(std::move(store)) {}

Result<int> ConfinedRun::Execute(UserManager manager, Json host, Timings timings) {
  timings_ = std::move(timings);
  Begin(std::move(host));
  if (auto planned = Plan(); !planned) {
    return Fail(Refuse(std::move(planned).error()));
  }
  const Streams streams{STDIN_FILENO,        options_.json ? -1 : STDOUT_FILENO,
                        STDERR_FILENO,       store_.stdout_log(),
                        store_.stderr_log(), options_.raw};
  auto unit = UnitRun::Start(std::move(manager), spec_, streams, signals_);
  if (!unit) {
    return Fail(Refuse(std::move(unit).error()));
  }
  timings_.Mark("unit_requested");
  auto gate = unit->AwaitGate();
  if (!gate) {
    unit->Finish(nullptr);
    return Fail(Refuse(std::move(gate).error()));
  }
  timings_.Mark("gate_reached");
  auto cgroup = Verify(*unit, *gate);
  if (!cgroup) {
    unit->Finish(nullptr);
    return Fail(Refuse(std::move(cgroup).error()));
  }
  administrative_ = DigestAdministrativeFiles(spec_.common_dir);
  auto disk = DiskUse::Open(spec_, gate->sender);
  if (!disk) {
    unit->Finish(&*cgroup);
    return Fail(Refuse(std::move(disk).error()));
  }
  if (auto released = Release(*unit); !released) {
    unit->Finish(&*cgroup);
    return Fail(Refuse(std::move(released).error()));
  }
  const TargetEnd end = unit->Watch(*gate, *cgroup, spec_.limits, *disk);
  evidence_["measurements"]["disk"] = {
      {"form", "watched"}, {"limit", spec_.limits.disk_bytes}, {"taken", DiskTaken(end, *disk)}};
  timings_.Mark("target_ended");
  return Conclude(*unit, *cgroup, end);
}

void ConfinedRun::Begin(Json host) {
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
                                        {"inode", store_.result_identity().inode},
                                        {"limit", spec_.limits.result_bytes}};
  }
  // Without this first scan there is no run: the caller made it.
  Observe("scan") = {{"before_set_up", "clean"}};
}

// Events hold digests: a journal record is bounded, an argument list and a mount table are not.
Result<void> ConfinedRun::Plan() {
  std::string digest;
  MACO_ASSIGN(digest, CanonicalDigest(evidence_["requested"]));
  std::uint64_t sequence = 0;
  MACO_ASSIGN(sequence, store_.Append({{"event", kRunPlanned},
                                       {"command", BoundedCommand(evidence_["requested"])},
                                       {"profile", ProfileName(spec_.profile)},
                                       {"unit", spec_.unit},
                                       {"requested_sha256", digest}}));
  evidence_["planned_record"] = sequence;
  timings_.Mark("journal_planned");
  return {};
}

// Collects every observation of the gate and judges them. Returns the pinned cgroup.
Result<Cgroup> ConfinedRun::Verify(UnitRun& unit, const AtGate& gate) {
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
  MACO_ASSIGN(scan_, ScanRoots(spec_));
  MACO_TRY(CheckRepositories(scan_, spec_));
  Observe("scan")["before_release"] = "clean";
  evidence_["measurements"]["scan"] = Counts(scan_.seen);
  timings_.Mark("scanned_again");
  const auto reasons = Judge(evidence_, Stage::kGate);
  if (!reasons.empty() && !hooks_.release_refused) {
    evidence_["reasons"] = reasons;
    return Fail(Code::kRefused, "refused: " + reasons.front(), "see 'git maco doctor'");
  }
  return cgroup;
}

Result<void> ConfinedRun::Release(UnitRun& unit) {
  std::string digest;
  MACO_ASSIGN(digest, CanonicalDigest(evidence_["observations"]));
  std::uint64_t sequence = 0;
  MACO_ASSIGN(sequence,
              store_.Append({{"event", kCommandStarted},
                             {"invocation_id", evidence_["observations"]["unit"]["invocation_id"]},
                             {"observations_sha256", digest}}));
  Observe("release") = {{"started_record", sequence}};
  timings_.Mark("journal_started");
  return unit.Release();
}

// Only what could be written can hold something new.
void ConfinedRun::ObserveLeft() {
  const bool writable =
      std::ranges::any_of(spec_.roots, [](const auto& root) { return root.writable && root.scan; });
  if (!writable) {
    return;
  }
  const auto after = ScanRoots(spec_);
  const Result<LeftBehind> left =
      after ? Result<LeftBehind>(CompareScans(scan_, *after)) : Fail(after.error());
  evidence_["measurements"]["new_repositories"] = DescribeNewRepositories(left);
  Observe("end")["new_state_roots"] = CountNewStateRoots(left);
  if (auto note = NewRepositoriesNote(left)) {
    notes_.push_back(*std::move(note));
  }
}

void ConfinedRun::ObserveEnd(UnitRun& unit, const Cgroup& cgroup, const TargetEnd& end) {
  Json& measured = evidence_["measurements"];
  measured["counters"] = ReadCounters(cgroup);
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
  evidence_["outcome"] = DescribeOutcome(end);
  if (const auto hits = TaskLimitHits(measured["counters"]); hits != 0) {
    evidence_["outcome"]["task_limit_hits"] = hits;
    notes_.push_back("the limit of " + std::to_string(spec_.limits.tasks) +
                     " processes and threads was met " + std::to_string(hits) +
                     " times; --tasks sets it");
  }
  if (options_.request.with_result) {
    observed["result"] = DescribeResultFile(store_, spec_.limits.result_bytes);
    measured["result_bytes"] = ResultSize(store_);
    if (const auto digest = Sha256OfFile(store_.result(), spec_.limits.result_bytes)) {
      evidence_["outcome"]["result_sha256"] = ToHex(*digest);
    }
  }
  measured["output"] = {{"stdout", StreamMember(unit.output())},
                        {"stderr", StreamMember(unit.error_output())}};
  for (const OutputPump* pump : {&unit.output(), &unit.error_output()}) {
    if (pump->gave_up()) {
      notes_.emplace_back("output was not read for 10 s; the rest of it is in the log only");
    }
  }
  ObserveLeft();
  measured["processes_left_behind"] = end.leftovers;
  measured["administrative_changes"] =
      ChangedFiles(administrative_, DigestAdministrativeFiles(spec_.common_dir));
}

int ConfinedRun::Conclude(UnitRun& unit, const Cgroup& cgroup, const TargetEnd& end) {
  ObserveEnd(unit, cgroup, end);
  const auto reasons = Judge(evidence_, Stage::kEnd);
  evidence_["reasons"] = reasons;
  evidence_["publishable"] = reasons.empty();
  // From here on an error must not look as if the target had not run.
  Json event = {{"event", FactsProven(reasons) ? kCommandCompleted : kCommandUnproven},
                {"exit_status", OutcomeStatus(end)}};
  BindWorktree(event);
  const auto evidence = Record(std::move(event));
  // A standard stream that nobody reads can still hold us up; signals end us then.
  const bool hurried = signals_.Restore();
  if (!evidence) {
    ::maco::Report(kTool, evidence.error());
    return kExitUnproven;
  }
  int status = ExitStatus(end, reasons);
  if (options_.request.with_result && !reasons.empty()) {
    notes_.emplace_back("the result is not saved: the run is not publishable");
  } else if (options_.request.with_result) {
    const auto saved = SaveResult(store_, spec_.result_place, spec_.limits.result_bytes);
    if (!saved) {
      ::maco::Report(kTool, saved.error());
      status = kExitUnproven;
    }
  }
  if (const auto delivered = Deliver(*evidence); !delivered) {
    ::maco::Report(kTool, delivered.error());
    status = kExitUnproven;
  }
  for (const auto& note : notes_) {
    pollfd ready{STDERR_FILENO, POLLOUT, 0};
    if (!hurried || poll(&ready, 1, 0) > 0) {
      Note(kTool, note);
    }
  }
  return status;
}

// JRN-05: a step is bound to the state that it left. Without one it is never taken for done.
void ConfinedRun::BindWorktree(Json& event) {
  if (!spec_.bound_worktree) {
    return;
  }
  if (auto state = CaptureWorktree(*spec_.bound_worktree)) {
    event["worktree"] = *std::move(state);
  } else {
    notes_.push_back("the state of the worktree is not recorded: " + Describe(state.error()));
  }
}

// Signs and stores the evidence, then the journal's last event. Returns the signed text.
Result<std::string> ConfinedRun::Record(Json event) {
  timings_.Mark("concluded");
  evidence_["measurements"]["timings_us"] = timings_.ToJson();
  std::string text;
  MACO_ASSIGN(text, store_.WriteEvidence(state_, evidence_));
  event["evidence_sha256"] = ToHex(Sha256(AsBytes(text)));
  event["publishable"] = evidence_["publishable"];
  std::string unfinalized;
  MACO_ASSIGN(unfinalized, store_.Finish(std::move(event)));
  if (!unfinalized.empty()) {
    notes_.push_back("the run has no final record, so it is never pruned: " + unfinalized);
  }
  MACO_TRY(store_.Close());
  return text;
}

Result<void> ConfinedRun::Deliver(const std::string& evidence) const {
  const std::string line = evidence + "\n";
  if (options_.json) {
    MACO_TRY(WriteAll(STDOUT_FILENO, AsBytes(line)));
  }
  if (options_.evidence_fd >= 0) {
    MACO_TRY(WriteAll(options_.evidence_fd, AsBytes(line)));
  }
  return {};
}

int ConfinedRun::ExitStatus(const TargetEnd& end, const std::vector<std::string>& reasons) {
  if (const auto note = OutcomeNote(end, spec_)) {
    notes_.push_back(*note);
  }
  if (!FactsProven(reasons)) {
    notes_.push_back("not publishable: " + reasons.front());
    return kExitUnproven;
  }
  return OutcomeStatus(end);
}

// Nothing of the target ran. The refusal is evidence too.
Error ConfinedRun::Refuse(Error error) {
  evidence_["publishable"] = false;
  evidence_["refusal"] = EscapeControl(Describe(error));
  if (!evidence_.contains("reasons")) {
    evidence_["reasons"] = Json::array({EscapeControl(error.message)});
  }
  const auto evidence = Record({{"event", kRunRefused}});
  signals_.Restore();  // as above
  const auto delivered = evidence ? Deliver(*evidence) : Fail(evidence.error());
  if (!delivered) {
    ::maco::Report(kTool, delivered.error());
  }
  return error;
}

}  // namespace maco::run

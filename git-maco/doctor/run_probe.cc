// Execution of the probe.
// Contract: git-maco/doctor/probe.h.
#include <chrono>

#include "git-maco/doctor/interruption.h"
#include "git-maco/doctor/probe.h"
#include "git-maco/doctor/throwaway.h"
#include "libcommon/auth/canonical_json.h"
#include "libcommon/git/git_program.h"
#include "libcommon/os/spawn.h"

namespace maco::doctor {
namespace {

constexpr char kEvidenceDomain[] = "maco.evidence/1";
// maco-run waits 60 s for the gate, its command has --timeout, and the end has fuses of its own.
constexpr std::chrono::seconds kProbeFuse{180};

void TakeEvidence(const std::string& output, const Throwaway& where, ProbeRun& run) {
  if (output.empty()) {
    return;  // refused before there was any
  }
  auto evidence = VerifyDocument(output, kMaxJsonBytes, where.state().key(), kEvidenceDomain,
                                 where.state().repository_id());
  if (evidence) {
    run.evidence = *std::move(evidence);
  } else {
    run.evidence_failure = evidence.error().message;
  }
}

ProbeRun Execute(const std::string& maco_run) {
  ProbeRun run;
  const auto where = Throwaway::Make();
  if (!where) {
    run.failure = where.error().message;
    return run;
  }
  if (Interruption::Happened()) {
    run.failure = "interrupted";
    return run;
  }
  SpawnRequest request;
  request.program = maco_run;
  request.arguments = {"--json", "--timeout", "30", "--", "true"};
  // No XDG_RUNTIME_DIR: maco-run has to find the user manager by itself.
  request.environment = CleanGitEnvironment();
  request.directory = where->path();
  request.output_limit = kMaxJsonBytes + 1;  // a newline follows the document
  request.timeout = kProbeFuse;
  const auto result = RunProgram(request);
  if (!result) {
    run.failure = result.error().message;
    return run;
  }
  constexpr int kSignalBase = 128;
  run.exit_status = result->signal != 0 ? kSignalBase + result->signal : result->exit_status;
  run.error_output = result->error_output;
  TakeEvidence(result->output, *where, run);
  return run;
}

}  // namespace

ProbeRun RunProbe(const std::string& maco_run) {
  const Interruption until_removed;
  return Execute(maco_run);
}

}  // namespace maco::doctor

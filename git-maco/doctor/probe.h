// Probe: a real verified run of true(1) in a throw-away repository, and what its evidence says.
// Evidence: docs/formats/evidence.md. Exit statuses of maco-run: libcommon/base/exit_code.h.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "libcommon/auth/json.h"

namespace maco::doctor {

// What came back from maco-run.
struct ProbeRun {
  std::string failure;  // why it could not be executed; then nothing else is set
  int exit_status = 0;
  std::string error_output;
  std::optional<Json> evidence;  // with a signature that verifies
  std::string evidence_failure;  // why there is none, although something was printed
};

// Executes `maco_run`, an absolute path. Leaves nothing behind, also when a signal ends it: that
// signal takes effect when all is removed.
ProbeRun RunProbe(const std::string& maco_run);

enum class Verdict {
  kVerified,  // accepted, and the evidence is publishable
  kRefused,   // nothing was started
  kUnproven,  // it ran, but not with proof
  kNotRun,    // maco-run could not be executed
};

std::string VerdictName(Verdict verdict);  // "verified", "refused", "unproven", "not-run"

// A property that the user manager accepted and reads back, but whose effect was not seen.
struct SilentProperty {
  std::string property;
  std::string observation;  // the reason that shows it
};

struct ProbeAnswer {
  Verdict verdict = Verdict::kNotRun;
  int exit_status = 0;
  std::string words;                 // one line for people
  std::vector<std::string> reasons;  // of the evidence: the observations that failed
  std::vector<SilentProperty> silent;
  std::string run;     // its id; empty without evidence
  std::string kernel;  // of the evidence's host
  std::string systemd;
};

ProbeAnswer JudgeProbe(const ProbeRun& run);

// Compares what was requested and read back with the evidence's reasons. Pure.
std::vector<SilentProperty> FindSilentProperties(const Json& evidence);

}  // namespace maco::doctor

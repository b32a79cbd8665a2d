// `publishable` as one pure function of the evidence document (RUN-12), and the gate as its first
// half: the same checks, of the observations that exist before release.
// Members of the document: docs/formats/evidence.md.
#pragma once
#include <string>
#include <vector>

#include "libcommon/auth/json.h"

namespace maco::run {

// The schema of the evidence document, and the domain of its signature.
inline constexpr char kEvidenceDomain[] = "maco.evidence/1";

// observations.end.new_state_roots, when the trees could not be scanned after the run.
inline constexpr char kNotLookedAt[] = "not looked at";

enum class Stage {
  kGate,  // only what can be known before the target starts
  kEnd,   // everything
};

// Why the run is not publishable (the gate: must be refused); empty means that it is. Each reason
// begins with the observation that it is about, as "inside.status.CapEff: ...". A document of any
// shape is judged, none makes it fail.
std::vector<std::string> Judge(const Json& evidence, Stage stage);

// Whether both facts were proven although the run may not be published: all reasons are about how
// the run ended ("outcome.") or what it was asked to be ("requested.").
bool FactsProven(const std::vector<std::string>& reasons);

}  // namespace maco::run

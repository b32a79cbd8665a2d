// Answer: all that doctor found, as lines for people and as one JSON document.
// Schema maco.doctor/1: git-maco-doctor(1).
#pragma once
#include <string>

#include "git-maco/doctor/check.h"
#include "git-maco/doctor/probe.h"
#include "libcommon/base/result.h"

namespace maco::doctor {

struct Answer {
  Checks checks;
  ProbeAnswer probe;
};

// Whether verified runs work on this host, wherever the current repository stands.
bool Qualifies(const Answer& answer);

// The same, and nothing of the current repository is missing.
bool AllGood(const Answer& answer);

std::string AnswerText(const Answer& answer);

// Canonical JSON and a newline. Errors: kInvalid, kLimit.
Result<std::string> AnswerJson(const Answer& answer);

}  // namespace maco::doctor

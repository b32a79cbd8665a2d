// The policy that an operator has set: maco.prune.* of protected scopes.
// Contract: git-maco-prune(1), "CONFIGURATION".
#pragma once

#include <string>
#include <vector>

#include "libcommon/base/result.h"
#include "libcommon/state/retention.h"

namespace maco {

// The words of --state and maco.prune.state: outcomes of final records. Errors: kInvalid.
Result<std::vector<std::string>> ParseOutcomes(const std::string& text);

struct RetentionSettings {
  RetentionPolicy policy;
  std::vector<std::string> notes;  // what does not count, and why
};

// Errors: those of ReadConfig, kInvalid (a value).
Result<RetentionSettings> ReadRetentionSettings();

}  // namespace maco

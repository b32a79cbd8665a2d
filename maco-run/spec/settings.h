// maco.run.*: the limits that Git configuration sets. What came with the repository only narrows.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "libcommon/base/result.h"
#include "libcommon/git/config.h"
#include "maco-run/spec/limits.h"

namespace maco::run {

// By option name, "memory". What the command line says.
using LimitFlags = std::map<std::string, std::uint64_t>;

struct ChosenLimits {
  Limits limits;
  std::vector<std::string> notes;  // what was not heeded, one line each
};

// The defaults; then protected scopes, the last value of each; then the repository's own, where it
// is lower; then the command line. Errors: kInvalid, kUsage (a value that is none), naming the key
// and its scope.
Result<ChosenLimits> ChooseLimits(const std::vector<ConfigValue>& settings,
                                  const LimitFlags& flags);

}  // namespace maco::run

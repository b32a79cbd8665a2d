// What git's configuration makes git run or read, in places that a run could write (ADM-01).
#pragma once
#include <vector>

#include "libcommon/base/result.h"
#include "libcommon/git/config.h"
#include "maco-run/spec/resolve.h"

namespace maco::run {

// Makes read-only, in writable roots: the directory of core.hooksPath, every file that a value
// stands in, and every file that include.path and includeIf.*.path name, whether or not it is read
// now. `values` as ReadAllConfig gives them. Errors: those of ProtectPath.
Result<void> ProtectGitSettings(const std::vector<ConfigValue>& values,
                                const Surroundings& surroundings, RunSpec& spec);

}  // namespace maco::run

// Masks: paths that no run may see, state roots above all (JRN-10).
#pragma once
#include <string>
#include <vector>

#include "libcommon/base/result.h"
#include "maco-run/spec/run_spec.h"

namespace maco::run {

// Whether an empty file system of the run's own covers a path.
bool IsCovered(const RunSpec& spec, const std::string& path);

bool IsHidden(const RunSpec& spec, const std::string& path);

// Adds a mask. An existing path becomes a check at the gate; what no private directory covers is
// made inaccessible too. Errors: kRefused (a root lies in it).
Result<void> HidePath(RunSpec& spec, const std::string& path);

// The same for state roots, at every path at which a mount shows them. Errors: also kLimit.
Result<void> HideStateRoots(RunSpec& spec, const std::vector<std::string>& paths);

// The state roots of repositories around these places: of each directory above (and of what its
// ".git" leads to), those that hold a key.
std::vector<std::string> EnclosingStateRoots(const std::vector<std::string>& places);

}  // namespace maco::run

// What in an entry of the quarantine keeps it from being deleted by itself (PRN-03).
#pragma once

#include <string>

#include "libcommon/os/directory.h"

namespace maco::prune {

// The first name in `name` that DeleteTree with kPlainOnly stops at, and why; empty: there is none.
// Changes nothing: what is closed to us or nested deeply is not looked at.
std::string FindObstacle(const Directory& quarantine, const std::string& name);

}  // namespace maco::prune

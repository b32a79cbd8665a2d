// Runs that a lane or a script still needs: they are kept whatever their age (PRN-04).
#pragma once

#include <map>
#include <string>

#include "libcommon/auth/state_root.h"
#include "libcommon/base/result.h"

namespace maco {

// By id, with the reason (WT-08, JRN-05). Errors: those of reading lanes and steps; a row of a lane
// that does not verify is one, since it is not known then what the lane needs.
Result<std::map<std::string, std::string>> NeededRuns(const StateRoot& state);

}  // namespace maco

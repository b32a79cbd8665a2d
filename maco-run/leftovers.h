// What killed runs of this repository left behind: found and cleaned by the next run.
// A run has an entry in <state root>/live from before its start to after its last record; an entry
// whose journal nobody holds is of a maco-run that was killed. Format: docs/formats/run.md.
#pragma once
#include "libcommon/auth/state_root.h"
#include "libcommon/base/result.h"
#include "maco-run/unit/user_manager.h"

namespace maco::run {

// Ends the units of such runs, says on standard error what was done, and says it of runs whose
// outcome is uncertain. An entry stays if its unit cannot be ended. Errors: kPermission, kIo.
Result<void> CleanLeftovers(const StateRoot& state, UserManager& manager);

}  // namespace maco::run

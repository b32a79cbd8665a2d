// One verified run from the options to the exit status.
// Steps: ARCHITECTURE.md, "A run". Exit statuses: libcommon/base/exit_code.h.
#pragma once
#include "libcommon/base/result.h"
#include "maco-run/options.h"
#include "maco-run/test_hooks.h"

namespace maco::run {

// Returns the exit status when the target was started, else the error that kept it from starting.
Result<int> ExecuteRun(const Options& options, const TestHooks& hooks = {});

}  // namespace maco::run

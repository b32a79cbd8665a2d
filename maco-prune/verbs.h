// The verbs of maco-prune. Each prints its answer and returns the exit status: 0 done, 1 something
// was kept that should have gone, or the answer is no. Errors: those of opening the state.
#pragma once

#include "libcommon/base/result.h"
#include "maco-prune/options.h"

namespace maco::prune {

Result<int> Execute(const Options& options);

Result<int> Prune(const Options& options);
Result<int> Inspect(const Options& options);
Result<int> Restore(const Options& options);
Result<int> Discard(const Options& options);

}  // namespace maco::prune

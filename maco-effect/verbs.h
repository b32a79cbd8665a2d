// The verbs of maco-effect. Each prints its answer and returns the exit status: 0 done, 1 certainly
// not applied or "no", 122 uncertain. Errors: those of opening the state, and what each names.
#pragma once

#include "libcommon/base/result.h"
#include "maco-effect/options.h"

namespace maco::effect {

Result<int> Execute(const Options& options);

Result<int> Publish(const Options& options);  // push, pr, issue, comment
Result<int> Send(const Options& options);
Result<int> List(const Options& options);
Result<int> Show(const Options& options);
Result<int> Recover(const Options& options);
Result<int> Reconcile(const Options& options);
Result<int> Verify(const Options& options);
Result<int> Archive(const Options& options);
Result<int> Hook(const Options& options);

}  // namespace maco::effect

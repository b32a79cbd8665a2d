// Where maco-run stands: the repository, the user's home, its own guardian.
// Errors: kNotFound (no guardian), kIo.
#pragma once
#include "libcommon/base/result.h"
#include "libcommon/git/repository.h"
#include "maco-run/spec/resolve.h"

namespace maco::run {

Result<Surroundings> FindSurroundings(Repository repository);

}  // namespace maco::run

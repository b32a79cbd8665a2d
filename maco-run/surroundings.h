// Where maco-run stands: the repository, the user's home, its own guardian.
// Errors: kNotFound (no repository, no guardian), those of FindRepository, kIo.
#pragma once
#include "libcommon/base/result.h"
#include "maco-run/spec/resolve.h"

namespace maco::run {

Result<Surroundings> FindSurroundings();

}  // namespace maco::run

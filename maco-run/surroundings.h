// Where maco-run stands: the repository, the user's home, its own guardian.
// Errors: kNotFound, kPermission, kIo.
#pragma once
#include "libcommon/base/result.h"
#include "maco-run/spec/resolve.h"

namespace maco::run {

Result<Surroundings> FindSurroundings(const Request& request);

}  // namespace maco::run

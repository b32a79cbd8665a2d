// Programs that lie beside maco-run, in a build tree and when installed.
// Errors: kNotFound, kPermission, kIo.
#pragma once

#include <string>

#include "libcommon/base/result.h"

namespace maco::run {

Result<std::string> OwnProgram(const std::string& name);

}  // namespace maco::run

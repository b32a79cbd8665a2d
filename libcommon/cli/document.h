// The JSON document that a tool prints for programs.
#pragma once

#include "libcommon/auth/json.h"
#include "libcommon/base/result.h"

namespace maco {

// One line in canonical form, with "schema". Errors: those of Canonicalize, kIo.
Result<void> PrintDocument(const char* schema, Json document);

}  // namespace maco

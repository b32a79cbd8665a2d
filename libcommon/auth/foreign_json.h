// JSON of others, as a forge's answers: parsed as strictly as our own, but with fractions.
// Contract: docs/formats/canonical-json.md has what our own documents may hold.
#pragma once

#include <string_view>

#include "libcommon/auth/json.h"
#include "libcommon/base/result.h"

namespace maco {

// As ParseJson, but numbers may be any that RFC 8259 allows; one that is no 64-bit integer becomes
// a double. Errors: kLimit, kInvalid.
Result<Json> ParseForeignJson(std::string_view text, std::size_t limit);

}  // namespace maco

// The JSON value type of the suite; the only header that names nlohmann's library.
// Parse and print with libcommon/auth/canonical_json.h, whose functions do not throw.
#pragma once
#include <nlohmann/json.hpp>

namespace maco {

// Objects are std::map, so members are ordered by the bytes of their names.
using Json = nlohmann::json;

}  // namespace maco

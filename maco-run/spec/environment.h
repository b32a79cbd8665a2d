// The environment of a target: a fixed small set, and what the caller adds by name (RUN-09).
// The names that are refused are refused by name only; a secret in a harmless name gets through.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "libcommon/auth/json.h"
#include "libcommon/base/result.h"

namespace maco::run {

// Where executables are looked for, inside and at any host.
inline constexpr char kSearchPath[] =
    "/run/current-system/sw/bin:/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";
// The private home, inside the private /tmp.
inline constexpr char kHome[] = "/tmp/home";
// Where a run with a result finds its result file.
inline constexpr char kResultPath[] = "/run/maco/result";

// Whether a caller may set `name`. Errors: kInvalid, with the reason.
Result<void> CheckVariableName(std::string_view name);

// The fixed set, then the caller's "NAME=value" entries, later ones winning. Errors: kInvalid,
// kLimit.
Result<std::vector<std::string>> BuildEnvironment(const std::vector<std::string>& added,
                                                  const std::string& run_id, bool with_result);

// The caller's variables by name and SHA-256 of the value.
Json DescribeVariables(const std::vector<std::string>& added);

}  // namespace maco::run

// Names of refs and branches as git takes them. Pure.
// Source: git-check-ref-format(1).
#pragma once

#include <string>
#include <string_view>

#include "libcommon/base/result.h"

namespace maco::effect {

// Whether git takes the name, a full one as "refs/heads/x". One that it does not take would be
// refused by our own git after "started" is on record, in words that say nothing about the remote.
bool IsRefName(std::string_view name);

// "refs/heads/NAME" of a branch; a name that begins with "refs/" is full already. Errors: kUsage.
Result<std::string> FullRef(const std::string& name);

}  // namespace maco::effect

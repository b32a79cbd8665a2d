// A hook of the user's repository that a tool puts there on request. Source: githooks(5).
#pragma once

#include <string>

#include "libcommon/base/result.h"
#include "libcommon/git/repository.h"

namespace maco {

// Where git looks for hooks: `hooks_path`, the value of core.hooksPath, or, if that is empty, the
// repository's own directory.
std::string HooksDirectory(const Repository& repository, const std::string& hooks_path);

enum class HookState {
  kMissing,
  kOurs,     // it has just that text
  kForeign,  // another hook is there
};

// Errors: kIo, kPermission.
Result<HookState> LookAtHook(const std::string& file, const std::string& text);

// Writes an executable file, never over another one; makes `directory`. Errors: kExists, kIo,
// kPermission.
Result<void> WriteHook(const std::string& directory, const std::string& name,
                       const std::string& text);

}  // namespace maco

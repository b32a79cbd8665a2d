// For readers without a lock: whether a failure may be the doing of a writer that is active.
// Contract: docs/formats/store.md ("Reading beside a writer").
#pragma once
#include <optional>
#include <string>

#include "libcommon/os/directory.h"

namespace maco {

inline constexpr int kReadAttempts = 64;

// True if it is worth starting over: a writer holds the lock, or the locator is not what it was
// `before` any more. Always so after the first attempt (number 0), since the writer may have gone.
// Pauses a millisecond before it says so.
bool WorthRetrying(const Directory& directory, const std::string& store,
                   const std::optional<std::string>& before, int attempt);

}  // namespace maco

// Paths of claims: their canonical form, and whether two of them overlap (WT-02).
// Contract: docs/formats/lane.md ("Paths of claims").
#pragma once

#include <string>
#include <vector>

#include "libcommon/base/result.h"
#include "libcommon/os/directory.h"

namespace maco {

inline constexpr std::size_t kMaxClaimPathBytes = 4096;
inline constexpr char kWholeTree[] = ".";

enum class Letters { kDiffer, kMatch };  // in upper and lower case, as core.ignorecase has it

// `path` as a user gave it, relative to `prefix` (itself relative to the top, empty at the top), or
// absolute and below `top`. What exists of it is resolved through symbolic links below `tree`,
// which is open at `top`. Errors: kInvalid (it leaves the tree, is too long, or names what is git's
// own).
Result<std::string> CanonicalClaimPath(const Directory& tree, const std::string& top,
                                       const std::string& prefix, const std::string& path);

// Whether one is the other, or a directory above it. Both are canonical. Pure.
bool ClaimsOverlap(std::string_view a, std::string_view b, Letters letters);

// Whether the file `path` lies in what is claimed. Pure.
bool ClaimCovers(std::string_view claim, std::string_view path, Letters letters);

}  // namespace maco

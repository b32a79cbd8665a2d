// The profiles of verified runs: what each grants and denies (RUN-13).
// Provider profiles are not here: no caller of maco-run can build one.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace maco::run {

enum class Profile {
  kOfflineRead,   // workspace read-only, no network
  kOfflineWrite,  // named writable roots, no network
  kDiagnostic,    // PROGRAM --version only, no workspace, never publishable
};

std::string_view ProfileName(Profile profile);
std::optional<Profile> ParseProfile(std::string_view name);

// The errno that each probe must meet inside, 0 where the operation is allowed.
std::map<std::string, std::uint32_t> ExpectedProbes(Profile profile);

}  // namespace maco::run

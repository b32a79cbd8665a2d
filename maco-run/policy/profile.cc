// Profile names and expected probe results.
// Contract: maco-run/policy/profile.h.
#include "maco-run/policy/profile.h"

#include <algorithm>
#include <cerrno>

#include "maco-run/guardian/probes.h"
#include "maco-run/policy/privileged_calls.h"

namespace maco::run {
namespace {

struct Named {
  Profile profile;
  std::string_view name;
};

constexpr Named kNames[] = {
    {Profile::kOfflineRead, "offline-read"},
    {Profile::kOfflineWrite, "offline-write"},
    {Profile::kDiagnostic, "diagnostic"},
};

}  // namespace

std::string_view ProfileName(Profile profile) {
  for (const auto& named : kNames) {
    if (named.profile == profile) {
      return named.name;
    }
  }
  return "";
}

std::optional<Profile> ParseProfile(std::string_view name) {
  for (const auto& named : kNames) {
    if (named.name == name) {
      return named.profile;
    }
  }
  return std::nullopt;
}

std::map<std::string, std::uint32_t> ExpectedProbes(Profile /*profile*/) {
  std::map<std::string, std::uint32_t> out;
  for (const auto& name : AllProbes()) {
    out[name] = EPERM;
  }
  for (const auto call : kPrivilegedCalls) {
    std::string probe(call);
    std::ranges::replace(probe, '_', '-');
    out[probe] = EACCES;
  }
  // RUN-08: the sole exception offline.
  out["socketpair-stream"] = 0;
  // Refused as unknown, so that callers fall back to the calls whose arguments can be seen.
  out["clone3"] = ENOSYS;
  out["openat2"] = ENOSYS;
  out["foreign-abi"] = ENOSYS;
  return out;
}

}  // namespace maco::run

// One system call that changes nothing.
// Contract: maco-run/guardian/landlock_abi.h.
#include "maco-run/guardian/landlock_abi.h"

#include <unistd.h>

namespace maco::run {

std::uint32_t LandlockAbi() {
  constexpr std::uint32_t kVersion = 1;  // LANDLOCK_CREATE_RULESET_VERSION
  const long abi = syscall(kLandlockCreateRuleset, nullptr, 0, kVersion);
  return abi > 0 ? static_cast<std::uint32_t>(abi) : 0;
}

}  // namespace maco::run

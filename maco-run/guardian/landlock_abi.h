// Which Landlock the kernel has. Source: landlock_create_ruleset(2).
#pragma once
#include <cstdint>

namespace maco::run {

// The number is the same on every architecture; headers may be older than the kernel.
inline constexpr long kLandlockCreateRuleset = 444;

// 0: none, or it is not enabled at boot.
std::uint32_t LandlockAbi();

}  // namespace maco::run

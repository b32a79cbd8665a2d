// A second fence where the kernel has one: Landlock, on top of read-only mounts and the filter.
// Writing and making names is allowed below the writable places only; TCP, abstract sockets and
// signals beyond the target's own processes not at all, where the ABI knows them. Source:
// landlock(7), Documentation/userspace-api/landlock.rst of the kernel.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "maco-run/guardian/landlock_abi.h"

namespace maco::run {

// The first ABI under which files can still be renamed across directories.
inline constexpr std::uint32_t kLeastLandlockAbi = 2;

struct LandlockState {
  std::uint32_t abi = 0;  // 0: the kernel has none
  bool restricted = false;
};

// Restricts this process for good. Places that are missing or cannot be restricted end the set-up
// (FailSetup); a kernel without a usable Landlock does not.
LandlockState RestrictByLandlock(const std::vector<std::string>& writable);

}  // namespace maco::run

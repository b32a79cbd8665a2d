// The guardian's side of the control socket: how its three roles speak to the host.
// Protocol: docs/formats/gate.md. Each function exits the process when the host is gone.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "libcommon/base/error.h"

namespace maco::run {

// Exit statuses of guardian processes; the host never relies on them, people may see them.
inline constexpr int kExitHostGone = 88;
inline constexpr int kExitSetupFailed = 89;

// The descriptor that carries the control socket in all roles, close-on-exec.
inline constexpr int kControlFd = 200;
// The read end of the start gate.
inline constexpr int kGateFd = 201;

// Tells the host which stage failed and why, then exits.
[[noreturn]] void FailSetup(std::string_view stage, const Error& error);
[[noreturn]] void FailSetup(std::string_view stage, int os_errno);

// Sends `bytes` in as many report packets as needed, then the at-gate packet.
void SendReport(std::span<const std::uint8_t> bytes);

}  // namespace maco::run

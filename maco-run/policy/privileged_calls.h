// Calls that the kernel itself denies to an ordinary user with EPERM, before it looks at anything.
// The filter denies them with EACCES, so that a probe tells the filter's answer from the kernel's.
#pragma once
#include <algorithm>
#include <iterator>
#include <string_view>

namespace maco::run {

inline constexpr std::string_view kPrivilegedCalls[] = {
    "acct",   "delete_module", "finit_module", "fsmount",           "fsopen",     "fspick",
    "iopl",   "init_module",   "ioperm",       "open_by_handle_at", "move_mount", "pivot_root",
    "reboot", "swapoff",       "syslog",       "vhangup",
};

inline bool IsPrivilegedCall(std::string_view name) {
  return std::find(std::begin(kPrivilegedCalls), std::end(kPrivilegedCalls), name) !=
         std::end(kPrivilegedCalls);
}

}  // namespace maco::run

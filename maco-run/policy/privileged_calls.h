// Calls that the kernel itself denies to an ordinary user with EPERM (some depending on how it is
// built and set), before it looks at anything.
// The filter denies them with EACCES, so that a probe tells the filter's answer from the kernel's.
#pragma once
#include <algorithm>
#include <iterator>
#include <string_view>

namespace maco::run {

inline constexpr std::string_view kPrivilegedCalls[] = {
    "acct",
    "bpf",
    "delete_module",
    "finit_module",
    "fsmount",
    "fsopen",
    "fspick",
    "init_module",
    "ioperm",
    "iopl",
    "kexec_file_load",
    "kexec_load",
    "lookup_dcookie",
    "move_mount",
    "open_by_handle_at",
    "pivot_root",
    "reboot",
    "swapoff",
    "syslog",
    "vhangup",
};

inline bool IsPrivilegedCall(std::string_view name) {
  return std::find(std::begin(kPrivilegedCalls), std::end(kPrivilegedCalls), name) !=
         std::end(kPrivilegedCalls);
}

}  // namespace maco::run

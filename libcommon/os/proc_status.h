// Facts about a process from /proc: status fields, namespace inodes, identity by pidfd.
// Source: proc(5), pid_namespaces(7), pidfd_open(2).
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "libcommon/base/result.h"
#include "libcommon/os/fd.h"

namespace maco {

// "Name:\tvalue" lines. Errors: kInvalid (a line without a colon, a name twice).
using StatusFields = std::map<std::string, std::string, std::less<>>;
Result<StatusFields> ParseStatus(std::string_view text);

// The inode numbers of /proc/PID/ns/*, by the kernel's names (user, mnt, pid, net, ipc, uts,
// cgroup). Errors: kNotFound, kPermission, kInvalid.
using NamespaceInodes = std::map<std::string, std::uint64_t, std::less<>>;
Result<NamespaceInodes> ReadNamespaces(const std::string& proc_directory);

// The number in "net:[4026531840]". Errors: kInvalid.
Result<std::uint64_t> ParseNamespaceLink(std::string_view link);

// A descriptor for the process that has `pid` now. Errors: kNotFound (ESRCH as kIo), kLimit.
Result<UniqueFd> OpenPidfd(pid_t pid);

// Whether the process behind `pidfd` still runs.
bool PidfdAlive(int pidfd);

// The path after "0::" in /proc/PID/cgroup. Errors: kUnsupported when there is no such line.
Result<std::string> ParseCgroupV2(std::string_view text);

}  // namespace maco

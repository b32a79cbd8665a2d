// Decide*: judges facts; pure functions, so that tests can feed them every kind of host.
// Each gives its checks in the order in which they are printed. Ids: git-maco-doctor(1).
#pragma once
#include <string>
#include <string_view>

#include "git-maco/doctor/check.h"
#include "git-maco/doctor/facts.h"

namespace maco::doctor {

// All checks below, in this order.
Checks Decide(const Facts& facts);

Checks DecideHost(const Facts& facts);        // linux, wsl, container, pid-1
Checks DecideCgroup(const Facts& facts);      // cgroup-v2, controller-cpu, -memory, -pids
Checks DecideManager(const Facts& facts);     // user-manager, systemd, lingering, xdg-runtime-dir
Checks DecideNamespaces(const Facts& facts);  // user-namespaces
Checks DecideKernel(const Facts& facts);      // seccomp, openat2, pidfd, close-range, ..., landlock
Checks DecideTools(const Facts& facts);       // git-version, maco-run
Checks DecideRepository(const Facts& facts);  // repository, state, space; Scope::kRepository

// What the checks above ask each other.
bool IsUnified(const CgroupFacts& facts);
bool ManagerAnswers(const ManagerFacts& facts);
bool InContainer(const HostFacts& facts);

enum class Wsl { kNo, kFirst, kSecond };
Wsl WslOf(const HostFacts& facts);

// "EPERM (Operation not permitted)".
std::string ErrnoText(int os_errno);

// The first number in a version such as "252.39-1~deb12u2"; 0 if there is none.
std::uint64_t MajorVersion(std::string_view version);

// Whether "git version 2.39.5" or the like is `major`.`minor` or later.
bool GitIsAtLeast(std::string_view version, std::uint64_t major, std::uint64_t minor);

}  // namespace maco::doctor

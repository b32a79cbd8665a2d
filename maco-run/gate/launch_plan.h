// What the guardian is told, in one sealed memfd: the target, and what to do and observe before it.
// Format: docs/formats/gate.md, "launch plan", version 1.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "libcommon/base/byte_codec.h"
#include "libcommon/base/result.h"
#include "libcommon/os/fd.h"

namespace maco::run {

inline constexpr std::size_t kMaxPlanBytes = 8UL << 20U;
inline constexpr std::size_t kMaxArguments = 16384;
inline constexpr std::size_t kMaxPlanString = 1UL << 20U;  // one argument, variable or path

// The steps that the guardian takes on top of the unit. A normal run takes them all; a test that
// leaves one out must be refused at the gate.
enum class GuardianStep : std::uint32_t {
  kNamespaces = 1U << 0U,     // own user, mount, PID and cgroup namespaces
  kProc = 1U << 1U,           // a new /proc
  kDevpts = 1U << 2U,         // a new /dev/pts
  kDropPrivilege = 1U << 3U,  // capabilities and the bounding set
  kNoNewPrivs = 1U << 4U,
  kFilter = 1U << 5U,
  kCloseDescriptors = 1U << 6U,
  kLandlock = 1U << 7U,
  kUserLimits = 1U << 8U,  // on inotify, in the run's own user namespace
};
inline constexpr std::uint32_t kAllGuardianSteps = 0x1FF;

// What the kernel keeps for each user, not for each cgroup, so that a run must not use it up.
inline constexpr std::uint64_t kInotifyInstances = 64;
inline constexpr std::uint64_t kInotifyWatches = 8192;

struct LaunchPlan {
  std::uint32_t steps = kAllGuardianSteps;
  std::vector<std::string> arguments;    // argv, byte exact
  std::vector<std::string> environment;  // "NAME=value", the whole of it
  std::string search_path;               // for argv[0] without a slash
  std::string directory;                 // working directory
  std::string home;                      // created 0700 inside the private /tmp
  std::vector<std::string> roots;        // report device, inode, mount and access of each
  std::vector<std::string> masks;        // report what is visible of each
  std::vector<std::string> writable;     // places that Landlock leaves open for writing
  std::vector<std::string> probes;       // names of maco-run/guardian/probes.h
  Bytes filter;                          // struct sock_filter array, see seccomp(2)

  bool Does(GuardianStep step) const { return (steps & static_cast<std::uint32_t>(step)) != 0; }
};

Result<Bytes> EncodePlan(const LaunchPlan& plan);                    // kLimit
Result<LaunchPlan> DecodePlan(std::span<const std::uint8_t> bytes);  // kInvalid

// A memfd that nobody can change any more. Errors: kIo, kLimit. Source: memfd_create(2), fcntl(2).
Result<UniqueFd> SealedMemory(std::span<const std::uint8_t> bytes);

// Reads a memfd, after a check that it is sealed. Errors: kInvalid, kLimit, kIo.
Result<Bytes> ReadSealed(int fd);

}  // namespace maco::run

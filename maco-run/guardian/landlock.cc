// The three system calls, with constants of our own: headers are older than kernels.
// Contract: maco-run/guardian/landlock.h.
#include "maco-run/guardian/landlock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "libcommon/os/fd.h"
#include "maco-run/guardian/control.h"

namespace maco::run {
namespace {

constexpr std::uint64_t kWriteFile = 1U << 1U;
constexpr std::uint64_t kRemoveDir = 1U << 4U;
constexpr std::uint64_t kRemoveFile = 1U << 5U;
constexpr std::uint64_t kMakeChar = 1U << 6U;
constexpr std::uint64_t kMakeDir = 1U << 7U;
constexpr std::uint64_t kMakeReg = 1U << 8U;
constexpr std::uint64_t kMakeSock = 1U << 9U;
constexpr std::uint64_t kMakeFifo = 1U << 10U;
constexpr std::uint64_t kMakeBlock = 1U << 11U;
constexpr std::uint64_t kMakeSym = 1U << 12U;
constexpr std::uint64_t kRefer = 1U << 13U;
constexpr std::uint64_t kTruncate = 1U << 14U;  // ABI 3

constexpr std::uint64_t kFileRights = kWriteFile | kTruncate;
constexpr std::uint64_t kTreeRights =
    kFileRights | kRemoveDir | kRemoveFile | kMakeDir | kMakeReg | kMakeSym | kRefer;
constexpr std::uint64_t kNodes = kMakeChar | kMakeSock | kMakeFifo | kMakeBlock;

struct Ruleset {
  std::uint64_t files = 0;
  std::uint64_t network = 0;  // ABI 4
  std::uint64_t scopes = 0;   // ABI 6
};

struct [[gnu::packed]] PathRule {
  std::uint64_t rights = 0;
  std::int32_t parent = -1;
};

constexpr int kPathBeneath = 1;          // LANDLOCK_RULE_PATH_BENEATH
constexpr std::uint64_t kTcp = 3;        // bind, connect
constexpr std::uint64_t kAllScopes = 3;  // abstract sockets, signals

constexpr long kAddRule = kLandlockCreateRuleset + 1;
constexpr long kRestrictSelf = kLandlockCreateRuleset + 2;

std::uint64_t Known(std::uint64_t rights, std::uint32_t abi) {
  return abi < 3 ? rights & ~kTruncate : rights;
}

void Allow(int ruleset, const std::string& path, std::uint64_t rights) {
  const UniqueFd fd(open(path.c_str(), O_PATH | O_CLOEXEC));
  PathRule rule{rights, fd.get()};
  if (!fd.valid() || syscall(kAddRule, ruleset, kPathBeneath, &rule, 0) != 0) {
    FailSetup("allow writing to '" + path + "' by Landlock", errno);
  }
}

bool IsDirectory(const std::string& path) {
  struct stat st {};
  return stat(path.c_str(), &st) == 0 && S_ISDIR(st.st_mode);
}

}  // namespace

LandlockState RestrictByLandlock(const std::vector<std::string>& writable) {
  LandlockState state{LandlockAbi(), false};
  if (state.abi < kLeastLandlockAbi) {
    return state;
  }
  const Ruleset rules{Known(kTreeRights | kNodes, state.abi), kTcp, kAllScopes};
  const std::size_t size = state.abi >= 6   ? sizeof rules
                           : state.abi >= 4 ? 2 * sizeof(std::uint64_t)
                                            : sizeof(std::uint64_t);
  const UniqueFd ruleset(static_cast<int>(syscall(kLandlockCreateRuleset, &rules, size, 0)));
  if (!ruleset.valid()) {
    FailSetup("make a Landlock ruleset", errno);
  }
  for (const auto& path : writable) {
    Allow(ruleset.get(), path, Known(IsDirectory(path) ? kTreeRights : kFileRights, state.abi));
  }
  // Device nodes and files of /proc that exist may be written, as their own access says.
  for (const char* path : {"/dev", "/proc"}) {
    Allow(ruleset.get(), path, Known(kFileRights, state.abi));
  }
  if (syscall(kRestrictSelf, ruleset.get(), 0) != 0) {
    FailSetup("restrict by Landlock", errno);
  }
  state.restricted = true;
  return state;
}

}  // namespace maco::run

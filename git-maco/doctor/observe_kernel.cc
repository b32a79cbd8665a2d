// User namespaces, seccomp, Landlock and the system calls that maco cannot do without.
// Contract: git-maco/doctor/observe.h. Each call asks without changing anything.
#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "git-maco/doctor/namespace_trial.h"
#include "git-maco/doctor/observe.h"
#include "libcommon/os/fd.h"

namespace maco::doctor {
namespace {

void ObserveNamespaces(const std::string& program, KernelFacts& facts) {
  facts.max_user_namespaces = ObserveFile("/proc/sys/user/max_user_namespaces");
  facts.unprivileged_clone = ObserveFile("/proc/sys/kernel/unprivileged_userns_clone");
  facts.apparmor_restriction =
      ObserveFile("/proc/sys/kernel/apparmor_restrict_unprivileged_userns");
  auto trial = TryNamespaces(program);
  if (trial) {
    facts.trial = *std::move(trial);
  } else {
    facts.trial_failure = trial.error().message;
  }
}

void ObserveSeccomp(KernelFacts& facts) {
  // A kernel with filters looks at the address and fails with EFAULT, one without says EINVAL.
  syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, nullptr);
  facts.seccomp_filter_errno = errno;
  const std::uint32_t action = SECCOMP_RET_ERRNO;
  if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) != 0) {
    facts.seccomp_errno_action = errno;
  }
}

void ObserveLandlock(KernelFacts& facts) {
  const long abi =
      syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (abi < 0) {
    facts.landlock_errno = errno;
  } else {
    facts.landlock_abi = static_cast<int>(abi);
  }
}

int ErrnoOfFd(long result) {
  const int failed = result < 0 ? errno : 0;
  const UniqueFd fd(static_cast<int>(result));
  return failed;
}

void ObserveCalls(KernelFacts& facts) {
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS;
  facts.openat2_errno = ErrnoOfFd(syscall(SYS_openat2, AT_FDCWD, "/", &how, sizeof how));
  facts.pidfd_errno = ErrnoOfFd(syscall(SYS_pidfd_open, getpid(), 0));
  // A range that holds no descriptor.
  facts.close_range_errno = syscall(SYS_close_range, ~0U, ~0U, 0) != 0 ? errno : 0;
  struct statx st {};
  facts.statx_errno = statx(AT_FDCWD, "/", 0, STATX_MNT_ID, &st) != 0 ? errno : 0;
  facts.mount_ids = (st.stx_mask & STATX_MNT_ID) != 0;
}

}  // namespace

KernelFacts ObserveKernel(const std::string& program) {
  KernelFacts facts;
  ObserveNamespaces(program, facts);
  ObserveSeccomp(facts);
  ObserveLandlock(facts);
  ObserveCalls(facts);
  return facts;
}

}  // namespace maco::doctor

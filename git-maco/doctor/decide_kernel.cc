// Judges user namespaces, seccomp, Landlock and single system calls.
// Contract: git-maco/doctor/decide.h.
#include <cerrno>

#include "git-maco/doctor/decide.h"

namespace maco::doctor {
namespace {

// Set now and for every later boot.
std::string SysctlFix(const std::string& name, const std::string& value) {
  return "echo '" + name + " = " + value +
         "' | sudo tee /etc/sysctl.d/60-maco.conf && sudo sysctl -p /etc/sysctl.d/60-maco.conf";
}

void Name(const FileFact& file, Check& check) {
  check.source += (check.source.empty() ? "" : "; ") + file.path + " = " + file.text;
}

// Why the trial failed, as far as it can be told; the settings explain better than the errno.
void Explain(const Facts& facts, int os_errno, Check& check) {
  const KernelFacts& kernel = facts.kernel;
  if (kernel.max_user_namespaces.text == "0") {
    check.observed = "switched off by user.max_user_namespaces";
    Name(kernel.max_user_namespaces, check);
    check.fix = SysctlFix("user.max_user_namespaces", "28633");
  } else if (kernel.unprivileged_clone.text == "0") {
    check.observed = "switched off for ordinary users by kernel.unprivileged_userns_clone";
    Name(kernel.unprivileged_clone, check);
    check.fix = SysctlFix("kernel.unprivileged_userns_clone", "1");
  } else if (kernel.apparmor_restriction.text == "1") {
    check.observed =
        "AppArmor takes their capabilities away, so that systemd silently leaves out "
        "what needs them";
    Name(kernel.apparmor_restriction, check);
    check.fix = SysctlFix("kernel.apparmor_restrict_unprivileged_userns", "0");
  } else if (os_errno == ENOSPC) {
    check.observed = "the limit on their number is reached";
    Name(kernel.max_user_namespaces, check);
    check.fix = SysctlFix("user.max_user_namespaces", "28633");
  } else if (os_errno == EINVAL || os_errno == ENOSYS) {
    check.observed = "the kernel has none";
    check.fix = "boot a kernel with CONFIG_USER_NS=y";
  } else if (InContainer(facts.host)) {
    check.observed = "refused by the container around";
    check.fix =
        "run it on the host, or have the container allow them (docker run --security-opt "
        "seccomp=unconfined --security-opt apparmor=unconfined)";
  } else {
    check.observed = "refused, by a security module or a filter";
    check.fix = "look for a denial: sudo journalctl -k -g 'userns|apparmor|avc'";
  }
}

Check UserNamespaces(const Facts& facts) {
  const KernelFacts& kernel = facts.kernel;
  Check check;
  check.id = "user-namespaces";
  if (kernel.trial.empty()) {
    check.state = State::kNote;
    check.observed = "not tried: " + kernel.trial_failure;
    return check;
  }
  const Step& last = kernel.trial.back();
  if (last.os_errno == 0) {
    check.observed = "made and mapped, with mounts inside";
    check.source = "tried, up to " + last.name;
    return check;
  }
  check.state = State::kMissing;
  check.source = last.name + ": " + ErrnoText(last.os_errno);
  Explain(facts, last.os_errno, check);
  return check;
}

Check Seccomp(const KernelFacts& kernel) {
  Check check;
  check.id = "seccomp";
  check.observed = "filters, with errno as an action";
  check.source =
      "seccomp(SECCOMP_SET_MODE_FILTER, 0, NULL): " + ErrnoText(kernel.seccomp_filter_errno) +
      ", SECCOMP_GET_ACTION_AVAIL: " +
      (kernel.seccomp_errno_action == 0 ? "ok" : ErrnoText(kernel.seccomp_errno_action));
  if (kernel.seccomp_filter_errno != EFAULT || kernel.seccomp_errno_action != 0) {
    check.state = State::kMissing;
    check.observed = "the kernel, or a filter around us, has no seccomp filters";
    check.fix = "boot a kernel with CONFIG_SECCOMP_FILTER=y";
  }
  return check;
}

Check Call(const std::string& id, const std::string& call, const std::string& since, int os_errno) {
  Check check;
  check.id = id;
  check.observed = "there";
  check.source = call + ": " + (os_errno == 0 ? "ok" : ErrnoText(os_errno));
  if (os_errno != 0) {
    check.state = State::kMissing;
    check.observed = "not there, or refused by a filter around us";
    check.fix = "boot Linux " + since + " or later, outside of a container that filters it";
  }
  return check;
}

Check MountIds(const KernelFacts& kernel) {
  Check check = Call("statx-mount-id", "statx(2)", "5.8", kernel.statx_errno);
  if (kernel.statx_errno == 0 && !kernel.mount_ids) {
    check.state = State::kMissing;
    check.observed = "not there";
    check.source += ", without STATX_MNT_ID";
    check.fix = "boot Linux 5.8 or later";
  }
  return check;
}

Check Landlock(const KernelFacts& kernel) {
  Check check;
  check.id = "landlock";
  check.state = State::kNote;  // nothing depends on it
  if (kernel.landlock_errno == 0) {
    check.observed = "ABI " + std::to_string(kernel.landlock_abi) + "; for information";
    check.source = "landlock_create_ruleset(2): version " + std::to_string(kernel.landlock_abi);
  } else {
    check.observed = "none; not needed";
    check.source = "landlock_create_ruleset(2): " + ErrnoText(kernel.landlock_errno);
  }
  return check;
}

}  // namespace

Checks DecideNamespaces(const Facts& facts) { return {UserNamespaces(facts)}; }

Checks DecideKernel(const Facts& facts) {
  const KernelFacts& kernel = facts.kernel;
  return {Seccomp(kernel),
          Call("openat2", "openat2(2)", "5.6", kernel.openat2_errno),
          Call("pidfd", "pidfd_open(2)", "5.3", kernel.pidfd_errno),
          Call("close-range", "close_range(2)", "5.9", kernel.close_range_errno),
          MountIds(kernel),
          Landlock(kernel)};
}

}  // namespace maco::doctor

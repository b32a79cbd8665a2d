// Decisions about user namespaces, seccomp, Landlock and system calls; and the trial's output.
// Tests git-maco/doctor/decide_kernel.cc, namespace_trial.cc.
#include "git-maco/doctor/namespace_trial.h"
#include "tests/unit/git-maco/doctor_facts.h"

namespace maco::doctor {
namespace {

Facts FailedTrial(const std::string& step, int os_errno) {
  Facts facts = GoodFacts();
  facts.kernel.trial = {{"earlier step", 0}, {step, os_errno}};
  return facts;
}

TEST(DecideNamespaces, TheSettingThatForbidsThemIsNamed) {
  Facts facts = FailedTrial("unshare(CLONE_NEWUSER)", ENOSPC);
  facts.kernel.max_user_namespaces.text = "0";
  EXPECT_EQ(Missing(facts), "user-namespaces");
  Check check = Find(facts, "user-namespaces");
  EXPECT_TRUE(Contains(check.source, "ENOSPC"));
  EXPECT_TRUE(Contains(check.source, "/proc/sys/user/max_user_namespaces = 0"));
  EXPECT_TRUE(Contains(check.fix, "user.max_user_namespaces = 28633"));

  facts = FailedTrial("unshare(CLONE_NEWUSER)", EPERM);
  facts.kernel.unprivileged_clone.text = "0";
  check = Find(facts, "user-namespaces");
  EXPECT_TRUE(Contains(check.fix, "kernel.unprivileged_userns_clone = 1"));

  facts = FailedTrial("write /proc/self/uid_map", EPERM);
  facts.kernel.apparmor_restriction = {"/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
                                       "1", 0};
  check = Find(facts, "user-namespaces");
  EXPECT_TRUE(Contains(check.source, "uid_map: EPERM"));
  EXPECT_TRUE(Contains(check.observed, "AppArmor"));
  EXPECT_TRUE(Contains(check.fix, "kernel.apparmor_restrict_unprivileged_userns = 0"));
}

TEST(DecideNamespaces, ASettingAloneIsNoMiss) {
  // An AppArmor profile may exempt maco, and root is exempt from most of them.
  Facts facts = GoodFacts();
  facts.kernel.apparmor_restriction = {"", "1", 0};
  facts.kernel.unprivileged_clone.text = "0";
  EXPECT_EQ(Missing(facts), "");
}

TEST(DecideNamespaces, WithoutASettingTheErrnoSpeaks) {
  EXPECT_TRUE(Contains(Find(FailedTrial("unshare", ENOSPC), "user-namespaces").observed, "limit"));
  EXPECT_TRUE(
      Contains(Find(FailedTrial("unshare", EINVAL), "user-namespaces").fix, "CONFIG_USER_NS"));
  Facts facts = FailedTrial("unshare", EPERM);
  EXPECT_TRUE(Contains(Find(facts, "user-namespaces").fix, "journalctl"));
  facts.host.docker_file = true;
  EXPECT_TRUE(Contains(Find(facts, "user-namespaces").observed, "container"));
}

TEST(DecideNamespaces, NoTrialIsANote) {
  Facts facts = GoodFacts();
  facts.kernel.trial.clear();
  facts.kernel.trial_failure = "cannot run it";
  EXPECT_EQ(Missing(facts), "");
  EXPECT_TRUE(Contains(Find(facts, "user-namespaces").observed, "cannot run it"));
}

TEST(DecideKernel, SeccompFiltersAreNeeded) {
  Facts facts = GoodFacts();
  facts.kernel.seccomp_filter_errno = EINVAL;
  EXPECT_EQ(Missing(facts), "seccomp");
  facts = GoodFacts();
  facts.kernel.seccomp_errno_action = EOPNOTSUPP;
  EXPECT_EQ(Missing(facts), "seccomp");
}

TEST(DecideKernel, EachSystemCallIsNeeded) {
  Facts facts = GoodFacts();
  facts.kernel.openat2_errno = ENOSYS;
  EXPECT_EQ(Missing(facts), "openat2");
  EXPECT_TRUE(Contains(Find(facts, "openat2").source, "ENOSYS"));
  facts = GoodFacts();
  facts.kernel.pidfd_errno = EPERM;
  EXPECT_EQ(Missing(facts), "pidfd");
  facts = GoodFacts();
  facts.kernel.close_range_errno = ENOSYS;
  EXPECT_EQ(Missing(facts), "close-range");
  facts = GoodFacts();
  facts.kernel.mount_ids = false;
  EXPECT_EQ(Missing(facts), "statx-mount-id");
  facts.kernel.statx_errno = ENOSYS;
  EXPECT_EQ(Missing(facts), "statx-mount-id");
}

TEST(DecideKernel, LandlockIsForInformation) {
  Facts facts = GoodFacts();
  EXPECT_TRUE(Contains(Find(facts, "landlock").observed, "ABI 5"));
  facts.kernel.landlock_errno = ENOSYS;
  EXPECT_EQ(Missing(facts), "");
  EXPECT_EQ(Find(facts, "landlock").state, State::kNote);
}

TEST(NamespaceTrial, OutputIsReadStrictly) {
  const auto steps = ParseTrial("0 unshare(CLONE_NEWUSER)\n13 write /proc/self/uid_map\n");
  ASSERT_TRUE(steps);
  ASSERT_EQ(steps->size(), 2U);
  EXPECT_EQ(steps->back().name, "write /proc/self/uid_map");
  EXPECT_EQ(steps->back().os_errno, EACCES);
  for (const char* output : {"", "\n", "0", "x step\n", "-1 step\n", "5000 step\n"}) {
    EXPECT_FALSE(ParseTrial(output)) << output;
  }
}

}  // namespace
}  // namespace maco::doctor

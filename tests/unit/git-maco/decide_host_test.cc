// Decisions about the kind of host, cgroups and the user manager, each fed with the facts of a
// case. Tests git-maco/doctor/decide_host.cc, decide_cgroup.cc, decide_manager.cc.
#include <set>

#include "tests/unit/git-maco/doctor_facts.h"

namespace maco::doctor {
namespace {

TEST(Decide, NothingIsMissingOnAGoodHost) {
  EXPECT_EQ(Missing(GoodFacts()), "");
  std::set<std::string> ids;
  for (const Check& check : Decide(GoodFacts())) {
    EXPECT_TRUE(ids.insert(check.id).second) << check.id;
    EXPECT_FALSE(check.observed.empty()) << check.id;
    EXPECT_FALSE(check.source.empty()) << check.id;
    EXPECT_EQ(check.fix, "") << check.id;
  }
}

TEST(Decide, EveryMissHasAFix) {
  Facts facts;  // nothing was seen at all
  facts.host.container.os_errno = ENOENT;
  facts.manager.directory_errno = ENOENT;
  facts.kernel.trial = {{"unshare(CLONE_NEWUSER)", EPERM}};
  facts.kernel.openat2_errno = ENOSYS;
  facts.repository.state_error = MakeError(Code::kNotFound, "no state", "run 'git maco init'");
  for (const Check& check : Decide(facts)) {
    if (check.state == State::kMissing) {
      EXPECT_NE(check.fix, "") << check.id;
    }
  }
}

TEST(DecideHost, AnotherSystemIsNamed) {
  Facts facts = GoodFacts();
  facts.host.system = "FreeBSD";
  EXPECT_EQ(Missing(facts), "linux");
}

TEST(DecideHost, FirstWslHasNoKernelTheSecondNeedsSystemd) {
  Facts facts = GoodFacts();
  facts.host.release = "4.4.0-19041-Microsoft";
  EXPECT_EQ(Missing(facts), "wsl");
  facts.host.release = "5.15.90.1-microsoft-standard-WSL2";
  EXPECT_EQ(Missing(facts), "");
  EXPECT_EQ(Find(facts, "wsl").state, State::kNote);
  facts.host.booted = false;
  facts.host.first_name.text = "init";
  facts.manager.directory_errno = ENOENT;
  facts.manager.version.clear();
  EXPECT_EQ(Missing(facts), "pid-1 user-manager");
  EXPECT_TRUE(Contains(Find(facts, "pid-1").fix, "/etc/wsl.conf"));
  facts.cgroup.type = TMPFS_MAGIC;
  EXPECT_TRUE(Contains(Find(facts, "cgroup-v2").fix, ".wslconfig"));
}

TEST(DecideHost, EachSignOfAContainerIsNamed) {
  const Facts good = GoodFacts();
  EXPECT_EQ(Find(good, "container").state, State::kOk);
  const auto sign = [&good](auto spoil) {
    Facts facts = good;
    spoil(facts.host);
    EXPECT_EQ(Missing(facts), "") << "a container that was given all of it qualifies";
    const Check check = Find(facts, "container");
    EXPECT_EQ(check.state, State::kNote);
    return check.source;
  };
  EXPECT_TRUE(Contains(sign([](HostFacts& host) {
                         host.container = {"", "podman", 0};
                       }),
                       "/run/systemd/container = 'podman'"));
  EXPECT_TRUE(Contains(sign([](HostFacts& host) { host.docker_file = true; }), "/.dockerenv"));
  EXPECT_TRUE(
      Contains(sign([](HostFacts& host) { host.podman_file = true; }), "/run/.containerenv"));
  EXPECT_TRUE(Contains(sign([](HostFacts& host) { host.variable = "lxc"; }), "container=lxc"));
  EXPECT_TRUE(Contains(
      sign([](HostFacts& host) { host.first_cgroup.text = "0::/kubepods/burstable/pod1"; }),
      "kubepods"));
}

TEST(DecideHost, AFirstProcessThatIsNotSystemd) {
  Facts facts = GoodFacts();
  facts.host.first_name.text = "runit";
  facts.host.booted = false;
  // A user manager that answers is all that maco-run needs.
  EXPECT_EQ(Missing(facts), "");
  EXPECT_EQ(Find(facts, "pid-1").state, State::kNote);
  facts.manager.sockets = {{"/run/user/1000/bus", ENOENT}};
  EXPECT_EQ(Missing(facts), "pid-1 user-manager");
  EXPECT_TRUE(Contains(Find(facts, "pid-1").source, "'runit'"));
  EXPECT_TRUE(Contains(Find(facts, "pid-1").fix, "boot this machine"));
  EXPECT_TRUE(Contains(Find(facts, "user-manager").fix, "needs pid-1 first"));
  facts.host.docker_file = true;
  EXPECT_TRUE(Contains(Find(facts, "pid-1").fix, "on the host"));
}

TEST(DecideCgroup, HybridVersionOneAndNoneAreToldApart) {
  Facts facts = GoodFacts();
  facts.cgroup.type = TMPFS_MAGIC;
  facts.cgroup.unified_below = true;
  EXPECT_EQ(Missing(facts), "cgroup-v2");
  EXPECT_TRUE(Contains(Find(facts, "cgroup-v2").observed, "hybrid"));
  EXPECT_TRUE(Contains(Find(facts, "cgroup-v2").source, "0x1021994"));
  EXPECT_TRUE(Contains(Find(facts, "cgroup-v2").fix, "systemd.unified_cgroup_hierarchy=1"));
  EXPECT_TRUE(Contains(Find(facts, "controller-memory").observed, "needs cgroup-v2"));
  facts.cgroup.unified_below = false;
  EXPECT_TRUE(Contains(Find(facts, "cgroup-v2").observed, "version 1"));
  facts.cgroup.os_errno = ENOENT;
  EXPECT_EQ(Missing(facts), "cgroup-v2");
  EXPECT_TRUE(Contains(Find(facts, "cgroup-v2").source, "ENOENT"));
}

TEST(DecideCgroup, EachControllerThatIsNotDelegatedIsNamed) {
  for (const std::string name : {"cpu", "memory", "pids"}) {
    Facts facts = GoodFacts();
    std::string& list = facts.manager.controllers.text;
    // "cpu" must not be found in "cpuset".
    list = "cpuset";
    for (const std::string other : {"cpu", "memory", "pids"}) {
      list += other == name ? "" : " " + other;
    }
    EXPECT_EQ(Missing(facts), "controller-" + name);
    const Check check = Find(facts, "controller-" + name);
    EXPECT_TRUE(Contains(check.source, "user@1000.service/cgroup.controllers = '" + list));
    EXPECT_TRUE(Contains(check.fix, "Delegate=cpu memory pids"));
    facts.cgroup.controllers.text = list;  // the kernel lacks it
    EXPECT_FALSE(Contains(Find(facts, "controller-" + name).fix, "Delegate="));
  }
}

TEST(DecideCgroup, ControllersWithoutAManagerAreNotASecondMiss) {
  Facts facts = GoodFacts();
  facts.manager.directory_errno = ENOENT;
  facts.manager.controllers = {"/sys/fs/cgroup/user.slice/x/cgroup.controllers", "", ENOENT};
  EXPECT_EQ(Missing(facts), "user-manager");
  facts = GoodFacts();
  facts.manager.controllers = {"/sys/fs/cgroup/user.slice/x/cgroup.controllers", "", ENOENT};
  EXPECT_EQ(Missing(facts), "controller-cpu controller-memory controller-pids");
}

TEST(DecideManager, EachWayToBeWithoutOne) {
  Facts facts = GoodFacts();
  facts.manager.directory_errno = ENOENT;
  EXPECT_EQ(Missing(facts), "user-manager");
  EXPECT_TRUE(Contains(Find(facts, "user-manager").fix, "loginctl enable-linger ann"));

  facts = GoodFacts();
  facts.manager.owner = 0;
  EXPECT_EQ(Missing(facts), "user-manager");
  EXPECT_TRUE(Contains(Find(facts, "user-manager").source, "owner 0"));

  facts = GoodFacts();
  facts.manager.mode = 0755;
  EXPECT_EQ(Missing(facts), "user-manager");
  EXPECT_TRUE(Contains(Find(facts, "user-manager").source, "mode 0755"));

  facts = GoodFacts();
  facts.manager.is_directory = false;  // a symbolic link
  EXPECT_EQ(Missing(facts), "user-manager");

  facts = GoodFacts();
  facts.manager.sockets[0].os_errno = ECONNREFUSED;
  EXPECT_EQ(Missing(facts), "") << "one of the two is enough";
  facts.manager.sockets[1].os_errno = ENOENT;
  EXPECT_EQ(Missing(facts), "user-manager");
  EXPECT_TRUE(Contains(Find(facts, "user-manager").source, "ECONNREFUSED"));

  facts = GoodFacts();
  facts.manager.version.clear();
  facts.manager.failure = "Failed to connect to bus";
  EXPECT_EQ(Missing(facts), "user-manager");
  EXPECT_TRUE(Contains(Find(facts, "user-manager").observed, "Failed to connect"));
}

TEST(DecideManager, WithoutSystemctlTheVersionIsNotKnown) {
  Facts facts = GoodFacts();
  facts.manager.asked = false;
  facts.manager.version.clear();
  EXPECT_EQ(Missing(facts), "");
  EXPECT_EQ(Find(facts, "systemd").state, State::kNote);
}

TEST(DecideManager, AnOldSystemdIsMissing) {
  Facts facts = GoodFacts();
  facts.manager.version = "249.11-0ubuntu3.12";
  EXPECT_EQ(Missing(facts), "systemd");
  facts.manager.version = "257";
  EXPECT_EQ(Missing(facts), "");
  EXPECT_EQ(MajorVersion("v252"), 0U);
  EXPECT_EQ(MajorVersion("99999999999999999999999"), 0U);
}

TEST(DecideManager, LingeringIsANote) {
  Facts facts = GoodFacts();
  facts.manager.lingers = false;
  EXPECT_EQ(Missing(facts), "");
  EXPECT_EQ(Find(facts, "lingering").fix, "sudo loginctl enable-linger ann");
}

TEST(DecideManager, TheEnvironmentIsANote) {
  Facts facts = GoodFacts();
  facts.manager.runtime_variable.reset();
  EXPECT_EQ(Missing(facts), "");
  EXPECT_EQ(Find(facts, "xdg-runtime-dir").fix, "export XDG_RUNTIME_DIR=/run/user/1000");
  facts.manager.runtime_variable = "/run/user/0";
  EXPECT_TRUE(Contains(Find(facts, "xdg-runtime-dir").observed, "elsewhere"));
  facts.manager.uid = 0;
  facts.manager.sudo_uid = "1000";
  EXPECT_TRUE(Contains(Find(facts, "xdg-runtime-dir").observed, "root by sudo"));
}

}  // namespace
}  // namespace maco::doctor

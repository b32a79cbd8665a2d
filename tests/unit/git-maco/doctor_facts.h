// Facts of a host on which nothing is missing, for tests to spoil; and access to checks by id.
// For the tests of git-maco/doctor only.
#pragma once
#include <gtest/gtest.h>
#include <linux/magic.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "git-maco/doctor/decide.h"

namespace maco::doctor {

inline void MakeManager(ManagerFacts& manager) {
  manager.uid = 1000;
  manager.user = "ann";
  manager.directory = "/run/user/1000";
  manager.is_directory = true;
  manager.owner = 1000;
  manager.mode = 0700;
  manager.sockets = {{"/run/user/1000/bus", 0}, {"/run/user/1000/systemd/private", 0}};
  manager.asked = true;
  manager.version = "252.39-1~deb12u2";
  manager.control_group = "/user.slice/user-1000.slice/user@1000.service";
  manager.lingers = true;
  manager.linger_file = "/var/lib/systemd/linger/ann";
  manager.controllers = {
      "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/"
      "cgroup.controllers",
      "cpu memory pids", 0};
  manager.runtime_variable = "/run/user/1000";
}

inline void MakeKernel(KernelFacts& kernel) {
  kernel.max_user_namespaces = {"/proc/sys/user/max_user_namespaces", "28633", 0};
  kernel.unprivileged_clone = {"/proc/sys/kernel/unprivileged_userns_clone", "1", 0};
  kernel.apparmor_restriction = {"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "",
                                 ENOENT};
  kernel.trial = {{"unshare(CLONE_NEWUSER)", 0}, {"mount(tmpfs)", 0}};
  kernel.seccomp_filter_errno = EFAULT;
  kernel.landlock_abi = 5;
  kernel.mount_ids = true;
}

inline Facts GoodFacts() {
  Facts facts;
  facts.host.system = "Linux";
  facts.host.release = "6.1.0-31-amd64";
  facts.host.container.os_errno = ENOENT;
  facts.host.first_name.text = "systemd";
  facts.host.first_cgroup.text = "0::/init.scope";
  facts.host.booted = true;
  facts.cgroup.type = CGROUP2_SUPER_MAGIC;
  facts.cgroup.controllers.text = "cpuset cpu io memory hugetlb pids rdma misc";
  MakeManager(facts.manager);
  MakeKernel(facts.kernel);
  facts.tools.git_path = "/usr/bin/git";
  facts.tools.git_version = "git version 2.39.5";
  facts.tools.directory = "/usr/libexec/git-maco";
  facts.repository.common_dir = "/home/ann/work/.git";
  facts.repository.id = "00112233445566778899aabbccddeeff";
  facts.repository.recorded_path = "/home/ann/work/.git";
  facts.repository.free_bytes = std::uint64_t{10} << 30U;
  facts.repository.free_inodes = 100000;
  return facts;
}

// The ids of all checks that are missing, in their order, joined by blanks.
inline std::string Missing(const Facts& facts) {
  std::string out;
  for (const Check& check : Decide(facts)) {
    if (check.state == State::kMissing) {
      out += (out.empty() ? "" : " ") + check.id;
    }
  }
  return out;
}

inline Check Find(const Facts& facts, const std::string& id) {
  const Checks checks = Decide(facts);
  const auto found = std::ranges::find(checks, id, &Check::id);
  EXPECT_NE(found, checks.end()) << id;
  return found == checks.end() ? Check() : *found;
}

inline bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace maco::doctor

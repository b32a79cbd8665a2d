// Judges the layout of /sys/fs/cgroup and what is delegated to the user manager.
// Contract: git-maco/doctor/decide.h. Source: cgroups(7), systemd.resource-control(5).
#include <linux/magic.h>

#include <algorithm>
#include <cstdio>

#include "git-maco/doctor/decide.h"
#include "libcommon/base/text.h"

namespace maco::doctor {
namespace {

std::string Hex(std::uint64_t number) {
  char text[2 + 16 + 1];
  snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(number));
  return text;
}

bool Lists(const FileFact& file, std::string_view controller) {
  const auto words = Split(file.text, ' ');
  return std::ranges::find(words, controller) != words.end();
}

std::string UnifiedFix(const HostFacts& host) {
  if (WslOf(host) == Wsl::kSecond) {
    return "in Windows, add to %UserProfile%\\.wslconfig below [wsl2]: kernelCommandLine = "
           "cgroup_no_v1=all systemd.unified_cgroup_hierarchy=1; then: wsl --shutdown";
  }
  const std::string boot =
      "add systemd.unified_cgroup_hierarchy=1 to GRUB_CMDLINE_LINUX in /etc/default/grub, then: "
      "sudo update-grub && sudo reboot";
  return InContainer(host) ? "on the container's host: " + boot : boot;
}

Check Unified(const Facts& facts) {
  const CgroupFacts& cgroup = facts.cgroup;
  Check check;
  check.id = "cgroup-v2";
  check.source = "statfs(2) of /sys/fs/cgroup: type " + Hex(cgroup.type);
  if (IsUnified(cgroup)) {
    check.observed = "version 2 as a whole";
    return check;
  }
  check.state = State::kMissing;
  check.fix = UnifiedFix(facts.host);
  if (cgroup.os_errno != 0) {
    check.observed = "there is none";
    check.source = "statfs(2) of /sys/fs/cgroup: " + ErrnoText(cgroup.os_errno);
  } else if (cgroup.unified_below) {
    check.observed = "hybrid: the controllers are version 1, version 2 has none of them";
    check.source += ", of /sys/fs/cgroup/unified: type " + Hex(CGROUP2_SUPER_MAGIC);
  } else {
    check.observed = "version 1, or none";
  }
  return check;
}

std::string DelegationFix(const Facts& facts, const std::string& controller) {
  if (!Lists(facts.cgroup.controllers, controller)) {
    return controller == "memory"
               ? "the kernel does not have it here: boot with cgroup_enable=memory, or have it "
                 "given to this container"
               : "the kernel does not have it here: use one that does, or have it given to this "
                 "container";
  }
  return "sudo mkdir -p /etc/systemd/system/user@.service.d && printf '[Service]\\nDelegate=cpu "
         "memory pids\\n' | sudo tee /etc/systemd/system/user@.service.d/50-maco.conf && sudo "
         "systemctl daemon-reload && sudo systemctl restart user@" +
         std::to_string(facts.manager.uid) + ".service   # ends your user services";
}

Check Controller(const Facts& facts, const std::string& controller) {
  const FileFact& file = facts.manager.controllers;
  Check check;
  check.id = "controller-" + controller;
  check.source = file.path + " = '" + file.text + "'";
  if (!IsUnified(facts.cgroup)) {
    check.state = State::kNote;
    check.observed = "not looked at: needs cgroup-v2";
    check.source.clear();
  } else if (file.os_errno != 0) {
    // A manager that answers and whose cgroup cannot be seen cannot be watched by maco either.
    const bool answers = ManagerAnswers(facts.manager);
    check.state = answers ? State::kMissing : State::kNote;
    check.observed =
        answers ? "the user manager's cgroup cannot be read" : "not looked at: needs user-manager";
    check.source = file.path + ": " + ErrnoText(file.os_errno);
    check.fix = answers ? "run it where the user manager's cgroup is visible" : "";
  } else if (Lists(file, controller)) {
    check.observed = "delegated to the user manager";
  } else {
    check.state = State::kMissing;
    check.observed = "not delegated to the user manager: limits would be accepted and not applied";
    check.fix = DelegationFix(facts, controller);
  }
  return check;
}

}  // namespace

bool IsUnified(const CgroupFacts& facts) {
  return facts.os_errno == 0 && facts.type == CGROUP2_SUPER_MAGIC;
}

Checks DecideCgroup(const Facts& facts) {
  return {Unified(facts), Controller(facts, "cpu"), Controller(facts, "memory"),
          Controller(facts, "pids")};
}

}  // namespace maco::doctor

// Judges the kernel's kind, containers and the first process.
// Contract: git-maco/doctor/decide.h.
#include <algorithm>
#include <cctype>
#include <cstring>

#include "git-maco/doctor/decide.h"

namespace maco::doctor {
namespace {

Check Linux(const HostFacts& host) {
  Check check;
  check.id = "linux";
  check.observed = host.system + " " + host.release;
  check.source = "uname(2)";
  if (host.system != "Linux") {
    check.state = State::kMissing;
    check.fix = "run it on Linux, for example in a virtual machine";
  }
  return check;
}

Check WindowsSubsystem(const HostFacts& host) {
  Check check;
  check.id = "wsl";
  check.source = "uname(2), release '" + host.release + "'";
  switch (WslOf(host)) {
    case Wsl::kNo:
      check.observed = "not below Windows";
      break;
    case Wsl::kFirst:
      check.state = State::kMissing;
      check.observed = "WSL 1, which has no Linux kernel";
      check.fix = "in Windows: wsl --set-version <distribution> 2";
      break;
    case Wsl::kSecond:
      check.state = State::kNote;
      check.observed = "WSL 2: systemd must be switched on there";
      break;
  }
  return check;
}

// What shows that there is a container around us.
std::string ContainerSigns(const HostFacts& host) {
  std::string signs;
  const auto add = [&signs](const std::string& sign) {
    signs += (signs.empty() ? "" : ", ") + sign;
  };
  if (host.container.os_errno == 0) {
    add("/run/systemd/container = '" + host.container.text + "'");
  }
  if (host.docker_file) {
    add("/.dockerenv exists");
  }
  if (host.podman_file) {
    add("/run/.containerenv exists");
  }
  if (!host.variable.empty()) {
    add("/proc/1/environ has container=" + host.variable);
  }
  for (const char* word : {"docker", "kubepods", "lxc", "libpod", "containerd"}) {
    if (host.first_cgroup.text.find(word) != std::string::npos) {
      add("/proc/1/cgroup names '" + std::string(word) + "'");
    }
  }
  return signs;
}

Check Container(const HostFacts& host) {
  Check check;
  check.id = "container";
  check.source = ContainerSigns(host);
  if (check.source.empty()) {
    check.observed = "no sign of one";
    check.source =
        "/run/systemd/container, /.dockerenv, /run/.containerenv, /proc/1/environ, /proc/1/cgroup";
    return check;
  }
  check.state = State::kNote;
  check.observed = "inside one; it must have been given what is missing below";
  return check;
}

std::string BootFix(const HostFacts& host) {
  if (WslOf(host) == Wsl::kSecond) {
    return "printf '[boot]\\nsystemd=true\\n' | sudo tee -a /etc/wsl.conf, then in Windows: wsl "
           "--shutdown";
  }
  if (InContainer(host)) {
    return "run it on the host, or in a container that boots systemd (systemd-nspawn --boot, "
           "podman "
           "run --systemd=always IMAGE /sbin/init)";
  }
  return "boot this machine with systemd as its init system";
}

Check FirstProcess(const Facts& facts) {
  const HostFacts& host = facts.host;
  const bool systemd = host.first_name.text == "systemd";
  Check check;
  check.id = "pid-1";
  check.source = "/proc/1/comm = '" + host.first_name.text + "', /run/systemd/system " +
                 (host.booted ? "exists" : "does not exist");
  if (host.booted && systemd) {
    check.observed = "systemd";
  } else if (ManagerAnswers(facts.manager)) {
    check.state = State::kNote;
    check.observed = "not systemd, but a user manager answers";
  } else {
    check.state = State::kMissing;
    check.observed = "not systemd, so nobody starts user managers";
    check.fix = BootFix(host);
  }
  return check;
}

}  // namespace

Wsl WslOf(const HostFacts& facts) {
  std::string release = facts.release;
  std::ranges::transform(release, release.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (release.find("microsoft") == std::string::npos) {
    return Wsl::kNo;
  }
  // "4.4.0-19041-Microsoft" and "5.15.90.1-microsoft-standard-WSL2".
  const bool second = release.find("wsl2") != std::string::npos ||
                      release.find("microsoft-standard") != std::string::npos;
  return second ? Wsl::kSecond : Wsl::kFirst;
}

bool InContainer(const HostFacts& facts) { return !ContainerSigns(facts).empty(); }

std::string ErrnoText(int os_errno) {
  const char* name = strerrorname_np(os_errno);
  const std::string words = strerror(os_errno);
  return name != nullptr ? std::string(name) + " (" + words + ")" : words;
}

Checks DecideHost(const Facts& facts) {
  return {Linux(facts.host), WindowsSubsystem(facts.host), Container(facts.host),
          FirstProcess(facts)};
}

Checks Decide(const Facts& facts) {
  Checks out;
  for (const auto decide : {DecideHost, DecideCgroup, DecideManager, DecideNamespaces, DecideKernel,
                            DecideTools, DecideRepository}) {
    Checks checks = decide(facts);
    out.insert(out.end(), std::make_move_iterator(checks.begin()),
               std::make_move_iterator(checks.end()));
  }
  return out;
}

}  // namespace maco::doctor

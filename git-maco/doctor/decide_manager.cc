// Judges the user manager, its version, its life after logout and the caller's environment.
// Contract: git-maco/doctor/decide.h.
#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "git-maco/doctor/decide.h"
#include "libcommon/base/text.h"

namespace maco::doctor {
namespace {

constexpr std::uint64_t kOldestSystemd = 252;  // the oldest that maco is tested with

bool IsPrivate(const ManagerFacts& manager) {
  return manager.directory_errno == 0 && manager.is_directory && manager.owner == manager.uid &&
         (manager.mode & 077U) == 0;
}

std::string Octal(unsigned mode) {
  char text[16];
  snprintf(text, sizeof text, "%04o", mode);
  return text;
}

std::string StartFix(const Facts& facts) {
  if (!facts.host.booted) {
    return "needs pid-1 first, then: sudo loginctl enable-linger " + facts.manager.user;
  }
  return "sudo loginctl enable-linger " + facts.manager.user +
         "   # or: sudo systemctl start user@" + std::to_string(facts.manager.uid) + ".service";
}

std::string RestartFix(const ManagerFacts& manager) {
  const std::string uid = std::to_string(manager.uid);
  return "sudo systemctl restart user-runtime-dir@" + uid + ".service user@" + uid +
         ".service   # ends your user services";
}

// "/run/user/1000/bus: ok, ..." for each socket.
std::string Sockets(const ManagerFacts& manager) {
  std::string out;
  for (const SocketFact& socket : manager.sockets) {
    out += (out.empty() ? "connect(2) to " : ", to ") + socket.path + ": " +
           (socket.os_errno == 0 ? "ok" : ErrnoText(socket.os_errno));
  }
  return out;
}

Check UserManager(const Facts& facts) {
  const ManagerFacts& manager = facts.manager;
  Check check;
  check.id = "user-manager";
  check.state = State::kMissing;
  const bool listens = std::ranges::any_of(
      manager.sockets, [](const SocketFact& socket) { return socket.os_errno == 0; });
  if (manager.directory_errno != 0) {
    check.observed = "none runs for user " + manager.user;
    check.source = "lstat(2) of " + manager.directory + ": " + ErrnoText(manager.directory_errno);
    check.fix = StartFix(facts);
  } else if (!IsPrivate(manager)) {
    check.observed =
        manager.directory + " is not a directory that is private to user " + manager.user;
    check.source = "lstat(2) of " + manager.directory + ": owner " + std::to_string(manager.owner) +
                   ", mode " + Octal(manager.mode);
    check.fix = RestartFix(manager);
  } else if (!listens) {
    check.observed = "none runs for user " + manager.user;
    check.source = Sockets(manager);
    check.fix = StartFix(facts);
  } else if (manager.asked && manager.version.empty()) {
    check.observed = "one listens, but does not answer: " + manager.failure;
    check.source = "systemctl --user show; " + Sockets(manager);
    check.fix = RestartFix(manager);
  } else {
    check.state = State::kOk;
    check.observed = "runs for user " + manager.user;
    check.source = Sockets(manager) + "; " + manager.directory + ": owner " +
                   std::to_string(manager.owner) + ", mode " + Octal(manager.mode);
  }
  return check;
}

Check Systemd(const ManagerFacts& manager) {
  Check check;
  check.id = "systemd";
  if (manager.version.empty()) {
    check.state = State::kNote;
    check.observed = ManagerAnswers(manager) ? "version not known: there is no systemctl"
                                             : "not looked at: needs user-manager";
    return check;
  }
  check.observed = "version " + manager.version;
  check.source = "systemctl --user show: Version=" + manager.version;
  if (MajorVersion(manager.version) < kOldestSystemd) {
    check.state = State::kMissing;
    check.observed += ", older than " + std::to_string(kOldestSystemd);
    check.fix = "upgrade to a distribution with systemd 252 or later (Debian 12, Ubuntu 24.04)";
  }
  return check;
}

Check Lingering(const ManagerFacts& manager) {
  Check check;
  check.id = "lingering";
  check.source = manager.linger_file + (manager.lingers ? " exists" : " does not exist");
  if (manager.lingers) {
    check.observed = "on: the user manager outlives the last logout";
    return check;
  }
  check.state = State::kNote;
  check.observed = "off: the user manager ends at the last logout, and a run in progress with it";
  check.fix = "sudo loginctl enable-linger " + manager.user;
  return check;
}

Check RuntimeVariable(const ManagerFacts& manager) {
  Check check;
  check.id = "xdg-runtime-dir";
  check.source = manager.runtime_variable ? "XDG_RUNTIME_DIR='" + *manager.runtime_variable + "'"
                                          : "XDG_RUNTIME_DIR is not set";
  if (manager.uid == 0 && manager.sudo_uid && manager.sudo_uid != "0") {
    check.state = State::kNote;
    check.observed = "root by sudo: this is about root's user manager, not about that of uid " +
                     *manager.sudo_uid;
    check.source += ", SUDO_UID=" + *manager.sudo_uid;
    check.fix = "run it without sudo";
  } else if (manager.runtime_variable == manager.directory) {
    check.observed = "is set";
  } else {
    // Usual over sudo, cron and some ssh set-ups.
    check.state = State::kNote;
    check.observed = manager.runtime_variable ? "leads elsewhere" : "is not set";
    check.observed += "; maco does without it, systemctl --user does not";
    check.fix = "export XDG_RUNTIME_DIR=" + manager.directory;
  }
  return check;
}

}  // namespace

bool ManagerAnswers(const ManagerFacts& facts) {
  const bool listens = std::ranges::any_of(
      facts.sockets, [](const SocketFact& socket) { return socket.os_errno == 0; });
  return IsPrivate(facts) && listens && (!facts.asked || !facts.version.empty());
}

std::uint64_t MajorVersion(std::string_view version) {
  const auto end = version.find_first_not_of("0123456789");
  return ParseUint(version.substr(0, end)).value_or(0);
}

Checks DecideManager(const Facts& facts) {
  return {UserManager(facts), Systemd(facts.manager), Lingering(facts.manager),
          RuntimeVariable(facts.manager)};
}

}  // namespace maco::doctor

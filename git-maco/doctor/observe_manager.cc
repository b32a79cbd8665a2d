// The user manager: its directory, its sockets, its answer, its cgroup, lingering, the environment.
// Contract: git-maco/doctor/observe.h. Sources: user@.service(5), systemctl(1), logind.
#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "git-maco/doctor/observe.h"
#include "libcommon/base/text.h"
#include "libcommon/os/fd.h"
#include "libcommon/os/spawn.h"

namespace maco::doctor {
namespace {

constexpr std::chrono::seconds kAnswerFuse{30};

// Whether somebody listens. Nothing is sent.
SocketFact ObserveSocket(const std::string& path) {
  SocketFact fact{path, 0};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    fact.os_errno = ENAMETOOLONG;
    return fact;
  }
  path.copy(address.sun_path, path.size());
  const UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) {
    fact.os_errno = errno;
    return fact;
  }
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    fact.os_errno = errno;
  }
  return fact;
}

std::string FindSystemctl() {
  for (const char* path :
       {"/usr/bin/systemctl", "/bin/systemctl", "/run/current-system/sw/bin/systemctl"}) {
    if (access(path, X_OK) == 0) {
      return path;
    }
  }
  return {};
}

std::string FirstLine(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

// The lines "Version=..." and "ControlGroup=..." of systemctl show.
void TakeAnswer(std::string_view output, ManagerFacts& facts) {
  for (const auto line : Split(output, '\n')) {
    if (line.starts_with("Version=")) {
      facts.version = line.substr(strlen("Version="));
    } else if (line.starts_with("ControlGroup=")) {
      facts.control_group = line.substr(strlen("ControlGroup="));
    }
  }
}

void Ask(ManagerFacts& facts) {
  SpawnRequest request;
  request.program = FindSystemctl();
  if (request.program.empty()) {
    return;
  }
  facts.asked = true;
  request.arguments = {"--user", "show", "--property=Version", "--property=ControlGroup"};
  request.environment = {"LC_ALL=C", "PATH=/usr/bin:/bin", "XDG_RUNTIME_DIR=" + facts.directory};
  request.timeout = kAnswerFuse;
  const auto answer = RunProgram(request);
  if (!answer) {
    facts.failure = answer.error().message;
    return;
  }
  TakeAnswer(answer->output, facts);
  if (facts.version.empty()) {
    facts.failure = FirstLine(answer->error_output);
    if (facts.failure.empty()) {
      facts.failure = "no answer, status " + std::to_string(answer->exit_status);
    }
  }
}

std::string UserName(uid_t uid) {
  const passwd* user = getpwuid(uid);
  return user != nullptr ? user->pw_name : std::to_string(uid);
}

std::optional<std::string> Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

void ObserveDirectory(ManagerFacts& facts) {
  struct stat st {};
  if (lstat(facts.directory.c_str(), &st) != 0) {
    facts.directory_errno = errno;
    return;
  }
  facts.is_directory = S_ISDIR(st.st_mode);
  facts.owner = st.st_uid;
  facts.mode = st.st_mode & 07777U;
}

// Where systemd puts a user manager by default, for when it cannot be asked.
std::string UsualControlGroup(const std::string& uid) {
  return "/user.slice/user-" + uid + ".slice/user@" + uid + ".service";
}

}  // namespace

ManagerFacts ObserveManager() {
  ManagerFacts facts;
  facts.uid = geteuid();
  const std::string uid = std::to_string(facts.uid);
  facts.user = UserName(geteuid());
  facts.directory = "/run/user/" + uid;
  ObserveDirectory(facts);
  bool listens = false;
  for (const char* name : {"/bus", "/systemd/private"}) {  // in the order that maco-run tries
    facts.sockets.push_back(ObserveSocket(facts.directory + name));
    listens = listens || facts.sockets.back().os_errno == 0;
  }
  if (listens) {
    Ask(facts);
  }
  const std::string group =
      facts.control_group.empty() ? UsualControlGroup(uid) : facts.control_group;
  facts.controllers = ObserveFile("/sys/fs/cgroup" + group + "/cgroup.controllers");
  facts.linger_file = "/var/lib/systemd/linger/" + facts.user;
  facts.lingers = access(facts.linger_file.c_str(), F_OK) == 0;
  facts.runtime_variable = Variable("XDG_RUNTIME_DIR");
  facts.sudo_uid = Variable("SUDO_UID");
  return facts;
}

}  // namespace maco::doctor

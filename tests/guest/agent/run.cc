// Runs the command: relays its two output streams to the host, reports its status, ends the guest.
#include "agent.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace guest {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// A background process may keep an output stream open after the command has ended. What it writes
// is relayed until it pauses for this long, or for this long at most.
constexpr milliseconds kQuietTime{200};
constexpr milliseconds kDrainTime{2000};

struct Command {
  std::vector<std::string> argv;
  std::vector<std::string> environment;
  std::string directory;
  std::string user;
};

struct Stream {
  int from_command;
  int to_host;
};

std::string ControlFile(const char* name) { return std::string(kControlDir) + "/" + name; }

Command ReadCommand() {
  return {Split(ReadFile(ControlFile("argv")), '\0'), Split(ReadFile(ControlFile("env")), '\0'),
          ReadFile(ControlFile("directory")), ReadFile(ControlFile("user"))};
}

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

void WriteAll(int fd, std::string_view data) {
  while (!data.empty()) {
    const ssize_t count = write(fd, data.data(), data.size());
    if (count >= 0)
      data.remove_prefix(static_cast<size_t>(count));
    else if (errno == EAGAIN)
      usleep(1000);
    else if (errno != EINTR)
      return;
  }
}

// Stream 0 is the command's output, stream 1 its error output. In UML they are serial lines; in
// QEMU virtio ports, whose name holds the index of the virtio device.
std::vector<std::string> PortNames(int stream) {
  std::vector<std::string> names;
  if (CurrentEngine() == Engine::kUml)
    names.push_back("/dev/ttyS" + std::to_string(stream));
  else
    for (int device = 0; device < 8; ++device)
      names.push_back("/dev/vport" + std::to_string(device) + "p" + std::to_string(stream + 1));
  return names;
}

int OpenPort(int stream) {
  const std::vector<std::string> names = PortNames(stream);
  for (int attempt = 0; attempt < 200; ++attempt) {
    for (const std::string& name : names) {
      const int fd = open(name.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
      if (fd < 0) continue;
      termios mode;
      if (tcgetattr(fd, &mode) == 0) {
        cfmakeraw(&mode);
        tcsetattr(fd, TCSANOW, &mode);
      }
      return fd;
    }
    usleep(10'000);
  }
  Die("open " + names.front());
}

std::vector<gid_t> GroupsOf(const User& user) {
  std::vector<gid_t> groups{user.gid};
  for (const std::string& line : Split(ReadFile("/etc/group"), '\n')) {
    const std::vector<std::string> field = Split(line, ':');
    if (field.size() < 4) continue;
    for (const std::string& member : Split(field[3], ','))
      if (member == user.name) groups.push_back(static_cast<gid_t>(atoi(field[2].c_str())));
  }
  return groups;
}

bool Become(const User& user) {
  const std::vector<gid_t> groups = GroupsOf(user);
  return setgroups(groups.size(), groups.data()) == 0 &&
         setresgid(user.gid, user.gid, user.gid) == 0 &&
         setresuid(user.uid, user.uid, user.uid) == 0;
}

[[noreturn]] void ExecCommand(Command command, const User& user, int out, int err) {
  int in = open(ControlFile("stdin").c_str(), O_RDONLY);
  if (in < 0) in = open("/dev/null", O_RDONLY);
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  close(in);
  setsid();
  signal(SIGPIPE, SIG_DFL);

  int status = 126;
  if (!Become(user)) {
    Complain("become " + user.name);
  } else if (chdir(command.directory.c_str())) {
    Complain("enter " + command.directory);
  } else {
    clearenv();
    for (std::string& variable : command.environment) putenv(variable.data());
    execvp(command.argv[0].c_str(), Pointers(command.argv).data());
    status = errno == ENOENT ? 127 : 126;
    Complain("start " + command.argv[0]);
  }
  _exit(status);
}

// Passes on what can be read. False at the end of the stream.
bool Relay(const Stream& stream) {
  static char buffer[65536];
  const ssize_t count = read(stream.from_command, buffer, sizeof buffer);
  if (count <= 0) return false;
  WriteAll(stream.to_host, {buffer, static_cast<size_t>(count)});
  return true;
}

void RelayUntilEnd(const Stream (&streams)[2], int command_fd) {
  pollfd polls[3] = {{streams[0].from_command, POLLIN, 0},
                     {streams[1].from_command, POLLIN, 0},
                     {command_fd, POLLIN, 0}};
  Clock::time_point deadline = Clock::time_point::max();
  while (polls[0].fd >= 0 || polls[1].fd >= 0) {
    const bool ended = polls[2].fd < 0;
    if (Clock::now() > deadline) return;
    const int ready = poll(polls, 3, ended ? static_cast<int>(kQuietTime.count()) : -1);
    if (ready == 0) return;
    for (int i = 0; i < 2; ++i)
      if (polls[i].revents && !Relay(streams[i])) polls[i].fd = -1;
    if (polls[2].revents) {
      polls[2].fd = -1;
      deadline = Clock::now() + kDrainTime;
    }
  }
}

int WaitStatus(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
    ;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void Report(int status) {
  const int fd =
      open(ControlFile("status").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) Die("open the status file");
  WriteAll(fd, std::to_string(status) + "\n");
  fsync(fd);
  close(fd);
}

}  // namespace

void RunCommand() {
  Command command = ReadCommand();
  if (command.argv.empty()) Die("read the command");
  const User user = FindUser("/etc/passwd", command.user);

  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC)) Die("pipe");
  const Stream streams[2] = {{out[0], OpenPort(0)}, {err[0], OpenPort(1)}};

  const pid_t pid = fork();
  if (pid < 0) Die("fork");
  if (pid == 0) ExecCommand(std::move(command), user, out[1], err[1]);
  close(out[1]);
  close(err[1]);
  signal(SIGPIPE, SIG_IGN);

  RelayUntilEnd(streams, static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  const int status = WaitStatus(pid);
  for (const Stream& stream : streams)
    if (isatty(stream.to_host)) tcdrain(stream.to_host);
  Report(status);
  PowerOff();
}

}  // namespace guest

// The guest's agent: one static program that boots the guest, runs the command and ends it.
// Contract: tests/guest/README.md.
#include "agent.h"

#include <fcntl.h>
#include <sys/reboot.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace guest {

void Complain(std::string_view what) {
  const int error = errno;
  fprintf(stderr, "agent: %.*s: %s\n", static_cast<int>(what.size()), what.data(), strerror(error));
}

void PowerOff() {
  // Started by hand on a real machine, this program must not switch that machine off.
  if (!KernelParameter("guest.dir").empty()) {
    sync();
    reboot(RB_POWER_OFF);
  }
  _exit(EXIT_FAILURE);
}

void Die(std::string_view what) {
  Complain(what);
  PowerOff();
}

std::string ReadFile(const std::string& path) {
  std::string content;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return content;
  char buffer[16384];
  ssize_t count;
  while ((count = read(fd, buffer, sizeof buffer)) > 0)
    content.append(buffer, static_cast<size_t>(count));
  close(fd);
  return content;
}

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return parts;
}

std::string KernelParameter(std::string_view name) {
  const std::string prefix = std::string(name) + '=';
  std::string line = ReadFile("/proc/cmdline");
  if (line.ends_with('\n')) line.pop_back();
  for (const std::string& word : Split(line, ' '))
    if (word.starts_with(prefix)) return word.substr(prefix.size());
  return {};
}

Engine CurrentEngine() {
  return KernelParameter("guest.engine") == "qemu" ? Engine::kQemu : Engine::kUml;
}

User FindUser(const std::string& passwd_file, std::string_view name) {
  for (const std::string& line : Split(ReadFile(passwd_file), '\n')) {
    const std::vector<std::string> field = Split(line, ':');
    if (field.size() >= 6 && field[0] == name)
      return {field[0], static_cast<uid_t>(atoi(field[2].c_str())),
              static_cast<gid_t>(atoi(field[3].c_str())), field[5]};
  }
  errno = ENOENT;
  Die("user " + std::string(name));
}

}  // namespace guest

int main(int argc, char** argv) {
  const std::string_view verb = argc > 1 ? argv[1] : "";
  if (getpid() == 1) guest::Boot();
  if (verb == "run") guest::RunCommand();
  if (verb == "fail") {  // started by systemd when the command's service cannot start
    fprintf(stderr, "agent: the user manager or the system bus did not start\n");
    guest::PowerOff();
  }
  fprintf(stderr, "usage: agent run | agent fail\n");
  return EXIT_FAILURE;
}

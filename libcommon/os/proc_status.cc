// Reading of /proc and pidfds.
// Contract: libcommon/os/proc_status.h.
#include "libcommon/os/proc_status.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "libcommon/base/text.h"

namespace maco {

Result<StatusFields> ParseStatus(std::string_view text) {
  StatusFields out;
  for (const auto line : Split(text, '\n')) {
    if (line.empty()) {
      continue;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
      return Fail(Code::kInvalid, "a process status has a line without a colon");
    }
    std::string_view value = line.substr(colon + 1);
    while (!value.empty() && (value.front() == '\t' || value.front() == ' ')) {
      value.remove_prefix(1);
    }
    if (!out.emplace(line.substr(0, colon), value).second) {
      return Fail(Code::kInvalid, "a process status names a field twice");
    }
  }
  return out;
}

Result<std::uint64_t> ParseNamespaceLink(std::string_view link) {
  const std::size_t open_bracket = link.find(":[");
  if (open_bracket == std::string_view::npos || link.back() != ']') {
    return Fail(Code::kInvalid, "'" + std::string(link) + "' is no namespace");
  }
  const auto inode = ParseUint(link.substr(open_bracket + 2, link.size() - open_bracket - 3));
  if (!inode) {
    return Fail(Code::kInvalid, "'" + std::string(link) + "' is no namespace");
  }
  return *inode;
}

Result<NamespaceInodes> ReadNamespaces(const std::string& proc_directory) {
  NamespaceInodes out;
  for (const char* name : {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"}) {
    const std::string path = proc_directory + "/ns/" + name;
    std::array<char, 64> target{};
    const ssize_t n = readlink(path.c_str(), target.data(), target.size());
    if (n < 0) {
      return FailOs(errno, "read", path);
    }
    MACO_ASSIGN(out[name], ParseNamespaceLink({target.data(), static_cast<std::size_t>(n)}));
  }
  return out;
}

Result<UniqueFd> OpenPidfd(pid_t pid) {
  const long fd = syscall(SYS_pidfd_open, pid, 0);
  if (fd < 0) {
    return FailOs(errno, "open process", std::to_string(pid));
  }
  return UniqueFd(static_cast<int>(fd));
}

bool PidfdAlive(int pidfd) {
  pollfd wait{pidfd, POLLIN, 0};
  return poll(&wait, 1, 0) == 0;
}

Result<std::string> ParseCgroupV2(std::string_view text) {
  for (const auto line : Split(text, '\n')) {
    if (line.starts_with("0::")) {
      return std::string(line.substr(3));
    }
  }
  return Fail(Code::kUnsupported, "the process is in no cgroup of version 2");
}

}  // namespace maco

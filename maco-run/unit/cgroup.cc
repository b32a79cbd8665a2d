// Descriptor-relative access to cgroup files.
// Contract: maco-run/unit/cgroup.h.
#include "maco-run/unit/cgroup.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "libcommon/base/text.h"
#include "libcommon/os/bounded_read.h"

namespace maco::run {
namespace {

constexpr char kRoot[] = "/sys/fs/cgroup";
constexpr std::size_t kMaxFileBytes = 1UL << 20U;

bool Gone(int os_errno) { return os_errno == ENODEV || os_errno == ENOENT; }

}  // namespace

Result<void> Cgroup::RequireUnified() {
  struct statfs file_system {};
  if (statfs(kRoot, &file_system) != 0) {
    return Fail(Code::kUnsupported, "no cgroup file system at /sys/fs/cgroup",
                "boot a Linux system with systemd");
  }
  if (file_system.f_type != CGROUP2_SUPER_MAGIC) {
    return Fail(Code::kUnsupported,
                "/sys/fs/cgroup is not cgroup version 2 (the host uses version 1 or the hybrid "
                "layout), so limits cannot be enforced and an empty process tree cannot be proven",
                "boot with systemd.unified_cgroup_hierarchy=1");
  }
  return {};
}

Result<Cgroup> Cgroup::Pin(const std::string& control_group) {
  MACO_TRY(RequireUnified());
  if (control_group.size() < 2 || control_group.front() != '/') {
    return Fail(Code::kNotFound, "the unit has no cgroup");
  }
  Directory root;
  MACO_ASSIGN(root, Directory::OpenPath(kRoot));
  Cgroup out;
  MACO_ASSIGN(out.directory_, root.Open(control_group.substr(1)));
  MACO_ASSIGN(out.events_, out.directory_.OpenFile("cgroup.events", O_RDONLY));
  return out;
}

Result<std::string> Cgroup::Read(const std::string& file) const {
  UniqueFd fd;
  MACO_ASSIGN(fd, directory_.OpenFile(file, O_RDONLY));
  std::string text;
  MACO_ASSIGN(text, ReadAll(fd.get(), kMaxFileBytes));
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  return text;
}

Result<std::vector<pid_t>> Cgroup::Processes() const {
  std::string text;
  MACO_ASSIGN(text, Read("cgroup.procs"));
  std::vector<pid_t> out;
  for (const auto line : Split(text, '\n')) {
    if (line.empty()) {
      continue;
    }
    const auto pid = ParseUint(line);
    if (!pid || *pid > INT32_MAX) {
      return Fail(Code::kIo, "cgroup.procs holds '" + std::string(line) + "'");
    }
    out.push_back(static_cast<pid_t>(*pid));
  }
  return out;
}

Result<Population> Cgroup::Populated() const {
  std::array<char, 256> text{};
  const ssize_t n = pread(events_.get(), text.data(), text.size(), 0);
  if (n < 0) {
    return Gone(errno) ? Result<Population>(Population::kRemoved)
                       : FailOs(errno, "read cgroup.events");
  }
  for (const auto line : Split({text.data(), static_cast<std::size_t>(n)}, '\n')) {
    if (line == "populated 0") {
      return Population::kEmpty;
    }
    if (line == "populated 1") {
      return Population::kPopulated;
    }
  }
  return Fail(Code::kIo, "cgroup.events does not say whether the cgroup is populated");
}

Result<UniqueFd> Cgroup::Open(const std::string& file) const {
  return directory_.OpenFile(file, O_RDONLY);
}

Result<void> Cgroup::Freeze(bool frozen) const {
  UniqueFd file;
  MACO_ASSIGN(file, directory_.OpenFile("cgroup.freeze", O_WRONLY));
  MACO_TRY(WriteAll(file.get(), AsBytes(frozen ? "1" : "0")));
  constexpr int kSteps = 100;
  constexpr int kStepMillis = 50;
  for (int step = 0; frozen && step < kSteps; ++step) {
    [[maybe_unused]] const auto armed = Populated();  // poll(2) tells of changes after a read
    std::string events;
    MACO_ASSIGN(events, Read("cgroup.events"));
    if (events.find("frozen 1") != std::string::npos) {
      return {};
    }
    pollfd set{events_.get(), POLLPRI, 0};
    poll(&set, 1, kStepMillis);
  }
  return frozen ? Fail(Code::kTimeout, "the cgroup does not freeze") : Result<void>();
}

Result<void> Cgroup::Kill() const {
  const auto file = directory_.OpenFile("cgroup.kill", O_WRONLY);
  if (!file) {
    return Gone(file.error().os_errno) ? Result<void>{} : Fail(file.error());
  }
  const auto written = WriteAll(file->get(), AsBytes("1"));
  if (!written && !Gone(written.error().os_errno)) {
    return Fail(written.error());
  }
  return {};
}

}  // namespace maco::run

// The observations of the process that becomes the target.
// Contract: maco-run/guardian/observe.h.
#include "maco-run/guardian/observe.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "libcommon/base/text.h"
#include "libcommon/os/bounded_read.h"
#include "libcommon/os/proc_status.h"
#include "maco-run/guardian/control.h"
#include "maco-run/guardian/probes.h"

namespace maco::run {
namespace {

std::string ReadProc(const char* path) {
  auto text = ReadPath(path, 4UL << 20U);
  if (!text) {
    FailSetup(std::string("read ") + path, text.error());
  }
  return std::move(*text);
}

// Opens it for reading: what a target would do first with a path that it should not see.
int OpenErrno(const std::string& path, mode_t mode) {
  const int flags = S_ISDIR(mode) ? O_RDONLY | O_DIRECTORY : O_RDONLY | O_NONBLOCK;
  const int fd = open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) {
    return errno;
  }
  close(fd);
  return 0;
}

PathReport ReportPath(const std::string& path) {
  PathReport out;
  out.path = path;
  struct stat st {};
  struct statvfs file_system {};
  if (stat(path.c_str(), &st) != 0 || statvfs(path.c_str(), &file_system) != 0) {
    out.os_errno = static_cast<std::uint32_t>(errno);
    return out;
  }
  out.device = st.st_dev;
  out.inode = st.st_ino;
  out.mode = st.st_mode;
  out.read_only = (file_system.f_flag & ST_RDONLY) != 0;
  out.open_errno = static_cast<std::uint32_t>(OpenErrno(path, st.st_mode));
  return out;
}

LimitReport ReportLimit(__rlimit_resource resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0) {
    FailSetup("read resource limits", errno);
  }
  return {limit.rlim_cur, limit.rlim_max};
}

// Of our own user namespace, see namespaces(7).
LimitReport UserLimit(const std::string& name) {
  const std::string text = ReadProc(("/proc/sys/user/" + name).c_str());
  const auto value = ParseUint(std::string_view(text).substr(0, text.find('\n')));
  if (!value) {
    FailSetup("read /proc/sys/user/" + name, EINVAL);
  }
  return {*value, *value};
}

// Descriptors that survive exec. The one that lists them is close-on-exec, as all of ours.
std::vector<std::uint32_t> KeptDescriptors() {
  std::vector<std::uint32_t> out;
  DIR* directory = opendir("/proc/self/fd");
  if (directory == nullptr) {
    FailSetup("list open descriptors", errno);
  }
  while (const dirent* entry = readdir(directory)) {
    const auto number = ParseUint(entry->d_name);
    if (!number) {
      continue;
    }
    const int flags = fcntl(static_cast<int>(*number), F_GETFD);
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) {
      out.push_back(static_cast<std::uint32_t>(*number));
    }
  }
  closedir(directory);
  return out;
}

}  // namespace

Report Observe(const LaunchPlan& plan) {
  Report report;
  report.pid = static_cast<std::uint32_t>(getpid());
  report.parent_pid = static_cast<std::uint32_t>(getppid());
  const char* invocation = getenv("INVOCATION_ID");
  report.invocation_id = invocation == nullptr ? "" : invocation;
  for (const auto& path : plan.roots) {
    report.roots.push_back(ReportPath(path));
  }
  for (const auto& path : plan.masks) {
    report.masks.push_back(ReportPath(path));
  }
  report.directory = ReportPath(".");
  report.directory.path = plan.directory;
  report.limits["nofile"] = ReportLimit(RLIMIT_NOFILE);
  report.limits["core"] = ReportLimit(RLIMIT_CORE);
  report.limits["fsize"] = ReportLimit(RLIMIT_FSIZE);
  report.limits["sigpending"] = ReportLimit(RLIMIT_SIGPENDING);
  report.limits["inotify_instances"] = UserLimit("max_inotify_instances");
  report.limits["inotify_watches"] = UserLimit("max_inotify_watches");
  for (const auto& name : plan.probes) {
    report.probes[name] = static_cast<std::uint32_t>(Probe(name));
  }
  report.descriptors = KeptDescriptors();
  auto namespaces = ReadNamespaces("/proc/self");
  if (!namespaces) {
    FailSetup("read namespaces", namespaces.error());
  }
  report.namespaces.insert(namespaces->begin(), namespaces->end());
  report.cgroup = ReadProc("/proc/self/cgroup");
  report.status = ReadProc("/proc/self/status");
  report.mountinfo = ReadProc("/proc/self/mountinfo");
  return report;
}

}  // namespace maco::run

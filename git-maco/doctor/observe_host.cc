// The kernel's name, signs of a container, the first process, the layout of /sys/fs/cgroup.
// Contract: git-maco/doctor/observe.h.
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>

#include "git-maco/doctor/observe.h"
#include "libcommon/base/text.h"
#include "libcommon/os/bounded_read.h"

namespace maco::doctor {
namespace {

constexpr std::size_t kMaxFileBytes = 65536;
constexpr char kCgroupRoot[] = "/sys/fs/cgroup";

bool Exists(const char* path) { return access(path, F_OK) == 0; }

bool IsDirectory(const char* path) {
  struct stat st {};
  return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

// What the first process was told about its container, see systemd.exec(5) and CONTAINER_INTERFACE.
std::string ContainerVariable() {
  constexpr std::string_view kName = "container=";
  const FileFact environment = ObserveFile("/proc/1/environ");
  for (const auto variable : Split(environment.text, '\0')) {
    if (variable.starts_with(kName)) {
      return std::string(variable.substr(kName.size()));
    }
  }
  return {};
}

}  // namespace

FileFact ObserveFile(const std::string& path) {
  FileFact fact{path, {}, 0};
  auto text = ReadPath(path, kMaxFileBytes);
  if (!text) {
    fact.os_errno = text.error().os_errno != 0 ? text.error().os_errno : EFBIG;
    return fact;
  }
  fact.text = *std::move(text);
  while (fact.text.ends_with('\n')) {
    fact.text.pop_back();
  }
  return fact;
}

HostFacts ObserveHost() {
  HostFacts facts;
  struct utsname name {};
  if (uname(&name) == 0) {
    facts.system = name.sysname;
    facts.release = name.release;
  }
  facts.container = ObserveFile("/run/systemd/container");
  facts.docker_file = Exists("/.dockerenv");
  facts.podman_file = Exists("/run/.containerenv");
  facts.variable = ContainerVariable();
  facts.first_name = ObserveFile("/proc/1/comm");
  facts.first_cgroup = ObserveFile("/proc/1/cgroup");
  facts.booted = IsDirectory("/run/systemd/system");
  return facts;
}

CgroupFacts ObserveCgroup() {
  CgroupFacts facts;
  struct statfs root {};
  if (statfs(kCgroupRoot, &root) != 0) {
    facts.os_errno = errno;
    return facts;
  }
  facts.type = static_cast<std::uint64_t>(root.f_type);
  struct statfs below {};
  facts.unified_below =
      statfs("/sys/fs/cgroup/unified", &below) == 0 && below.f_type == CGROUP2_SUPER_MAGIC;
  facts.controllers = ObserveFile("/sys/fs/cgroup/cgroup.controllers");
  return facts;
}

Facts Observe(const std::string& program) {
  Facts facts;
  facts.host = ObserveHost();
  facts.cgroup = ObserveCgroup();
  facts.manager = ObserveManager();
  facts.kernel = ObserveKernel(program);
  facts.tools = ObserveTools(program);
  facts.repository = ObserveRepository();
  return facts;
}

}  // namespace maco::doctor

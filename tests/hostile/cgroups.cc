// Leaves its cgroup, or loosens it: moves itself, raises limits, makes or kills cgroups.
// Parameters: sibling= the cgroup directory of another unit of the user. Frame:
// tests/hostile/attempt.h.
#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "tests/hostile/attempt.h"

namespace {

using hostile::Outcome;
using hostile::Parameter;

std::string own;

int IsOwn(const char* path, const struct stat* /*st*/, int /*type*/, FTW* where) {
  if (strncmp(path + where->base, "maco-run-", 9) != 0) {
    return 0;
  }
  own = path;
  return 1;
}

// /proc/self/cgroup shows it relative to a namespace, so it is looked for.
const std::string& Own() {
  if (own.empty()) {
    nftw("/sys/fs/cgroup", IsOwn, 16, FTW_PHYS);
  }
  return own;
}

int Write(const std::string& path, const std::string& text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) {
    return errno;
  }
  const int result = Outcome(write(fd, text.data(), text.size()));
  close(fd);
  return result;
}

int Make(const std::string& path) {
  const int result = Outcome(mkdir(path.c_str(), 0755));
  rmdir(path.c_str());
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  return hostile::RunAttempts(
      argc, argv,
      {
          {"raise-memory", [] { return Write(Own() + "/memory.max", "max"); }},
          {"raise-tasks", [] { return Write(Own() + "/pids.max", "max"); }},
          {"raise-cpu", [] { return Write(Own() + "/cpu.max", "max 100000"); }},
          {"make-below", [] { return Make(Own() + "/below"); }},
          {"make-beside", [] { return Make(Own() + "/../beside"); }},
          {"freeze-sibling", [] { return Write(Parameter("sibling") + "/cgroup.freeze", "0"); }},
          {"kill-sibling", [] { return Write(Parameter("sibling") + "/cgroup.kill", "1"); }},
          {"move-to-sibling", [] { return Write(Parameter("sibling") + "/cgroup.procs", "0"); }},
      });
}

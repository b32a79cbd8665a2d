// Mounts, reaping, and the count of what the target left behind.
// Contract: maco-run/guardian/init.h.
#include "maco-run/guardian/init.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "libcommon/os/fd.h"
#include "maco-run/guardian/control.h"
#include "maco-run/guardian/oom_victim.h"
#include "maco-run/guardian/target.h"

namespace maco::run {
namespace {

void Mount(const char* stage, const char* source, const char* target, const char* type,
           unsigned long flags, const char* options) {
  if (mount(source, target, type, flags, options) != 0) {
    FailSetup(stage, errno);
  }
}

void SetUserLimit(const char* name, std::uint64_t value) {
  const std::string path = std::string("/proc/sys/user/") + name;
  const UniqueFd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd.valid()) {
    FailSetup("open " + path, errno);
  }
  if (auto written = WriteAll(fd.get(), AsBytes(std::to_string(value))); !written) {
    FailSetup("write " + path, written.error());
  }
}

// A fresh /proc shows the new PID namespace only. Its parts that are not about processes are made
// read-only again, as systemd had made those of the old one.
void MountProc(bool user_limits) {
  Mount("mount a new /proc", "proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr);
  if (user_limits) {
    // While it can be written, and we may: these are of our user namespace.
    SetUserLimit("max_inotify_instances", kInotifyInstances);
    SetUserLimit("max_inotify_watches", kInotifyWatches);
  }
  for (const char* path :
       {"/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/sysrq-trigger"}) {
    struct stat st {};
    if (stat(path, &st) != 0) {
      continue;  // this kernel is built without it
    }
    Mount("bind a part of /proc", path, path, nullptr, MS_BIND, nullptr);
    Mount("make a part of /proc read-only", nullptr, path, nullptr,
          MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr);
  }
}

// The host's devpts would let the target write into the user's open terminals.
void MountDevpts() {
  Mount("mount a new /dev/pts", "devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
        "newinstance,ptmxmode=0666,mode=0600");
  Mount("bind the new ptmx", "/dev/pts/ptmx", "/dev/ptmx", nullptr, MS_BIND, nullptr);
}

std::uint32_t CountOthers() {
  DIR* proc = opendir("/proc");
  if (proc == nullptr) {
    return 0;
  }
  std::uint32_t count = 0;
  while (const dirent* entry = readdir(proc)) {
    const bool is_pid = entry->d_name[strspn(entry->d_name, "0123456789")] == '\0';
    count += is_pid && strcmp(entry->d_name, "1") != 0 ? 1 : 0;
  }
  closedir(proc);
  return count;
}

[[noreturn]] void ReapUntil(pid_t target, int verdict_fd) {
  for (;;) {
    int status = 0;
    const pid_t ended = wait(&status);
    if (ended < 0 && errno == EINTR) {
      continue;
    }
    if (ended == target || ended < 0) {
      // Other zombies go first, so that only living processes count.
      while (waitpid(-1, nullptr, WNOHANG) > 0) {
      }
      const InitVerdict verdict{static_cast<std::uint32_t>(status), CountOthers()};
      // Smaller than PIPE_BUF: whole or not at all.
      [[maybe_unused]] const auto written = write(verdict_fd, &verdict, sizeof verdict);
      _exit(0);
    }
  }
}

}  // namespace

void RunInit(const LaunchPlan& plan, TargetStdio stdio, int verdict_fd) {
  // If the outer guardian dies, so does everything here.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) {
    FailSetup("bind the inner init to the guardian's life", errno);
  }
  const bool own_namespaces = plan.Does(GuardianStep::kNamespaces);
  if (own_namespaces) {
    Mount("cut mount propagation", nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    if (plan.Does(GuardianStep::kProc)) {
      MountProc(plan.Does(GuardianStep::kUserLimits));
    }
    if (plan.Does(GuardianStep::kDevpts)) {
      MountDevpts();
    }
  }
  PreferAsVictim(kInitOomScore);
  const pid_t target = fork();
  if (target < 0) {
    FailSetup("start the target process", errno);
  }
  if (target == 0) {
    close(verdict_fd);
    RunTarget(plan, stdio);
  }
  close(stdio.input);
  close(stdio.output);
  close(stdio.error_output);
  close(kGateFd);
  ReapUntil(target, verdict_fd);
}

bool ReadVerdict(int fd, InitVerdict& verdict) {
  return read(fd, &verdict, sizeof verdict) == static_cast<ssize_t>(sizeof verdict);
}

}  // namespace maco::run

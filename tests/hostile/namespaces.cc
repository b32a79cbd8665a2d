// Makes and enters namespaces and changes mounts, old interface and new. Each attempt first tries
// to get capabilities from a user namespace, as an attacker would. Parameters: dir= an existing
// directory. Frame: tests/hostile/attempt.h.
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "tests/hostile/attempt.h"

namespace {

using hostile::Attempt;
using hostile::CloseAfter;
using hostile::InChild;
using hostile::Outcome;
using hostile::Parameter;

constexpr int kNewTime = 0x80;  // CLONE_NEWTIME

struct Namespace {
  const char* name;
  int flag;
};

constexpr Namespace kNamespaces[] = {
    {"user", CLONE_NEWUSER},     {"mnt", CLONE_NEWNS},  {"pid", CLONE_NEWPID},
    {"net", CLONE_NEWNET},       {"ipc", CLONE_NEWIPC}, {"uts", CLONE_NEWUTS},
    {"cgroup", CLONE_NEWCGROUP}, {"time", kNewTime},
};

int Unshare(int flag) {
  return InChild([flag] {
    // Everything but the user namespace itself needs one to be allowed.
    return Outcome(unshare(flag == CLONE_NEWUSER ? flag : flag | CLONE_NEWUSER));
  });
}

int Clone(int flag) {
  return InChild([flag] {
    const long flags = SIGCHLD | CLONE_NEWUSER | flag;
    const long child = syscall(SYS_clone, flags, 0, 0, 0, 0);
    if (child == 0) {
      _exit(0);
    }
    return Outcome(child);
  });
}

int Clone3() {
  return InChild([] {
    std::uint64_t arguments[8] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD, 0, 0, 0};
    const long child = syscall(SYS_clone3, arguments, sizeof arguments);
    if (child == 0) {
      _exit(0);
    }
    return Outcome(child);
  });
}

// Fails quietly: the attempt after it shows the result.
void Climb() {
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) {
    mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  }
}

int Climbed(int (*attempt)(const char*), const std::string& place) {
  return InChild([&] {
    Climb();
    return attempt(place.c_str());
  });
}

// The parameters are known only when the attempts run, so this looks for itself.
std::vector<std::string> Places(int argc, char** argv) {
  std::vector<std::string> out;
  for (int i = 1; i < argc; ++i) {
    std::string rest = argv[i];
    if (!rest.starts_with("places=")) {
      continue;
    }
    for (rest = rest.substr(7); !rest.empty();) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      out.push_back(rest.substr(0, comma));
      rest = rest.substr(std::min(comma + 1, rest.size()));
    }
  }
  return out;
}

int Tmpfs(const char* dir) { return Outcome(mount("none", dir, "tmpfs", 0, nullptr)); }
int Bind(const char* dir) { return Outcome(mount("/etc", dir, nullptr, MS_BIND, nullptr)); }

int Umount(const char* dir) {
  Tmpfs(dir);
  return Outcome(umount2(dir, MNT_DETACH));
}

int PivotRoot(const char* dir) {
  Tmpfs(dir);
  return Outcome(syscall(SYS_pivot_root, dir, dir));
}

int OpenTree(const char* dir) {
  return CloseAfter(syscall(SYS_open_tree, AT_FDCWD, dir, OPEN_TREE_CLONE));
}

int MoveMount(const char* dir) {
  const long tree = syscall(SYS_open_tree, AT_FDCWD, "/etc", OPEN_TREE_CLONE);
  return Outcome(syscall(SYS_move_mount, tree, "", AT_FDCWD, dir, MOVE_MOUNT_F_EMPTY_PATH));
}

int Fsmount(const char* /*dir*/) {
  const long context = syscall(SYS_fsopen, "tmpfs", 0);
  if (context < 0) {
    return errno;
  }
  if (syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) {
    return errno;
  }
  return CloseAfter(syscall(SYS_fsmount, context, 0, 0));
}

int Fspick(const char* dir) {
  Tmpfs(dir);
  return CloseAfter(syscall(SYS_fspick, AT_FDCWD, dir, 0));
}

int SetAttributes(const char* dir) {
  Tmpfs(dir);
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_NOEXEC;
  return Outcome(syscall(SYS_mount_setattr, AT_FDCWD, dir, 0, &attributes, sizeof attributes));
}

int Chroot(const char* dir) { return Outcome(chroot(dir)); }

int Setns(const char* /*dir*/) {
  const int fd = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
  return fd < 0 ? errno : Outcome(setns(fd, CLONE_NEWNS));
}

// What is mounted on a place comes off, or a read-only mount becomes writable.
int Uncover(const char* dir) { return Outcome(umount2(dir, MNT_DETACH)); }

int MakeWritable(const char* dir) {
  return Outcome(mount(nullptr, dir, nullptr, MS_REMOUNT | MS_BIND | MS_NOSUID, nullptr));
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Attempt> attempts;
  for (const auto& one : kNamespaces) {
    attempts.push_back({std::string("unshare-") + one.name, [&one] { return Unshare(one.flag); }});
    if (one.flag != kNewTime) {
      attempts.push_back({std::string("clone-") + one.name, [&one] { return Clone(one.flag); }});
    }
  }
  attempts.push_back({"clone3-user", Clone3});
  struct Named {
    const char* name;
    int (*attempt)(const char*);
  };
  static constexpr Named kMounts[] = {
      {"mount-tmpfs", Tmpfs},    {"mount-bind", Bind},    {"umount", Umount},
      {"pivot-root", PivotRoot}, {"open-tree", OpenTree}, {"move-mount", MoveMount},
      {"fsmount", Fsmount},      {"fspick", Fspick},      {"mount-setattr", SetAttributes},
      {"chroot", Chroot},        {"setns", Setns},
  };
  for (const auto& one : kMounts) {
    attempts.push_back({one.name, [&one] { return Climbed(one.attempt, Parameter("dir")); }});
  }
  for (const auto& place : Places(argc, argv)) {
    attempts.push_back({"uncover:" + place, [place] { return Climbed(Uncover, place); }});
    attempts.push_back({"rw:" + place, [place] { return Climbed(MakeWritable, place); }});
  }
  return hostile::RunAttempts(argc, argv, attempts);
}

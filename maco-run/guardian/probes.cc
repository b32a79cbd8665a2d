// One small function per denied operation, and the table of their names.
// Contract: maco-run/guardian/probes.h.
#include "maco-run/guardian/probes.h"

#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/netlink.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace maco::run {
namespace {

constexpr char kScratch[] = "/tmp/.maco-probe";
constexpr char kScratchLink[] = "/tmp/.maco-probe-2";

// The errno of a call that returns -1 for failure.
int Outcome(long result) { return result < 0 ? errno : 0; }

int CloseAfter(int fd) {
  const int result = Outcome(fd);
  if (fd >= 0) {
    close(fd);
  }
  return result;
}

int TrySocket(int domain, int type, int protocol = 0) {
  return CloseAfter(socket(domain, type | SOCK_CLOEXEC, protocol));
}

int TryPair(int type) {
  std::array<int, 2> ends{-1, -1};
  const int result = Outcome(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends.data()));
  close(ends[0]);
  close(ends[1]);
  return result;
}

// A call on one end of a pair: bind makes a socket inode, connect addresses another socket.
template <typename Call>
int OnPair(Call call) {
  std::array<int, 2> ends{-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return errno;
  }
  const int result = Outcome(call(ends[0]));
  close(ends[0]);
  close(ends[1]);
  return result;
}

sockaddr_un ScratchAddress() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path, kScratch, sizeof kScratch);
  return address;
}

int TryBind() {
  const sockaddr_un address = ScratchAddress();
  const int result = OnPair([&](int fd) {
    return bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  });
  unlink(kScratch);
  return result;
}

int TryConnect() {
  const sockaddr_un address = ScratchAddress();
  return OnPair([&](int fd) {
    return connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  });
}

int TryListen() {
  return OnPair([](int fd) { return listen(fd, 1); });
}

int TryAccept() {
  return OnPair([](int fd) { return accept4(fd, nullptr, nullptr, SOCK_NONBLOCK); });
}

int TryIoUring() {
  io_uring_params parameters{};
  return CloseAfter(static_cast<int>(syscall(SYS_io_uring_setup, 1, &parameters)));
}

int TryLink(bool at) {
  const int fd = open(kScratch, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0) {
    return ENOSYS;  // the scratch place is not there: nothing was tried
  }
  close(fd);
  const int result = Outcome(at ? linkat(AT_FDCWD, kScratch, AT_FDCWD, kScratchLink, 0)
                                : syscall(SYS_link, kScratch, kScratchLink));
  unlink(kScratch);
  unlink(kScratchLink);
  return result;
}

int TryNode(mode_t type, bool at) {
  const int result =
      Outcome(at ? syscall(SYS_mknodat, AT_FDCWD, kScratch, type | 0600U, 0)
                 : syscall(SYS_mknod, kScratch, type | 0600U, 0));
  unlink(kScratch);
  return result;
}

int TrySetuid(bool at) {
  const int fd = open(kScratch, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0) {
    return ENOSYS;
  }
  const int result = Outcome(at ? fchmodat(AT_FDCWD, kScratch, S_ISUID | 0700U, 0)
                                : fchmod(fd, S_ISUID | 0700U));
  close(fd);
  unlink(kScratch);
  return result;
}

int TryCreateSetuid() {
  const int fd = open(kScratch, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, S_ISUID | 0700U);
  const int result = CloseAfter(fd);
  unlink(kScratch);
  return result;
}

// In a child, since success would change or end the process.
template <typename Call>
int InChild(Call call) {
  const pid_t child = static_cast<pid_t>(syscall(SYS_fork));
  if (child < 0) {
    return ENOSYS;
  }
  if (child == 0) {
    _exit(call());
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
}

int TryUnshare(int flags) {
  return InChild([flags] { return Outcome(unshare(flags)); });
}

int TryClone(unsigned long flags) {
  return InChild([flags] {
    const long pid = syscall(SYS_clone, flags | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
    if (pid == 0) {
      _exit(0);
    }
    return Outcome(pid);
  });
}

int TryClone3() {
  // Flags sit in memory, where no filter can see them: the whole call must be refused.
  return InChild([] {
    std::array<std::uint64_t, 8> arguments{};
    arguments[0] = CLONE_NEWUSER;
    arguments[4] = SIGCHLD;
    const long pid = syscall(SYS_clone3, arguments.data(), sizeof arguments);
    if (pid == 0) {
      _exit(0);
    }
    return Outcome(pid);
  });
}

int TryForeignAbi() {
  // The x32 number of getpid(2). Where the kernel has no x32 it says ENOSYS by itself.
  return InChild([] { return Outcome(syscall(0x40000000 | SYS_getpid)); });
}

// Calls that name nothing real: allowed, they would fail with another errno than the filter's.
int Try(long number, long a = -1, long b = 0, long c = 0, long d = 0, long e = 0) {
  return Outcome(syscall(number, a, b, c, d, e));
}

int TryIoctl(unsigned long request) {
  return Outcome(syscall(SYS_ioctl, STDIN_FILENO, request, "x"));
}

struct NamedProbe {
  const char* name;
  int (*attempt)();
};

constexpr unsigned long kHighBits = 1UL << 32U;

const NamedProbe kProbes[] = {
    {"socket-unix", [] { return TrySocket(AF_UNIX, SOCK_STREAM); }},
    {"socket-inet", [] { return TrySocket(AF_INET, SOCK_STREAM); }},
    {"socket-inet6", [] { return TrySocket(AF_INET6, SOCK_DGRAM); }},
    {"socket-netlink", [] { return TrySocket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE); }},
    {"socket-vsock", [] { return TrySocket(AF_VSOCK, SOCK_STREAM); }},
    {"socketpair-datagram", [] { return TryPair(SOCK_DGRAM); }},
    {"socketpair-stream", [] { return TryPair(SOCK_STREAM); }},
    {"bind", TryBind},
    {"connect", TryConnect},
    {"listen", TryListen},
    {"accept", TryAccept},
    {"io-uring", TryIoUring},
    {"link", [] { return TryLink(false); }},
    {"linkat", [] { return TryLink(true); }},
    {"mkfifo", [] { return TryNode(S_IFIFO, true); }},
    {"mkfifo-old", [] { return TryNode(S_IFIFO, false); }},
    {"mknod-socket", [] { return TryNode(S_IFSOCK, true); }},
    {"mknod-device", [] { return TryNode(S_IFCHR, true); }},
    {"setuid-fchmod", [] { return TrySetuid(false); }},
    {"setuid-fchmodat", [] { return TrySetuid(true); }},
    {"setuid-create", TryCreateSetuid},
    {"setuid-mknod", [] { return TryNode(S_IFREG | S_ISUID, true); }},
    {"mount", [] { return Outcome(mount("none", "/tmp", "tmpfs", 0, nullptr)); }},
    {"umount", [] { return Outcome(umount2("/tmp", MNT_DETACH)); }},
    {"pivot-root", [] { return Outcome(syscall(SYS_pivot_root, "/tmp", "/tmp")); }},
    {"chroot", [] { return InChild([] { return Outcome(chroot("/tmp")); }); }},
    {"open-tree", [] { return Try(SYS_open_tree); }},
    {"move-mount", [] { return Try(SYS_move_mount); }},
    {"fsopen", [] { return Try(SYS_fsopen); }},
    {"fsmount", [] { return Try(SYS_fsmount); }},
    {"mount-setattr", [] { return Try(SYS_mount_setattr); }},
    {"unshare-user", [] { return TryUnshare(CLONE_NEWUSER); }},
    {"unshare-mount", [] { return TryUnshare(CLONE_NEWNS); }},
    {"clone-user", [] { return TryClone(CLONE_NEWUSER); }},
    {"clone3", TryClone3},
    {"setns", [] { return Try(SYS_setns); }},
    {"ptrace", [] { return Outcome(ptrace(PTRACE_ATTACH, 1, nullptr, nullptr)); }},
    {"process-vm-readv", [] { return Try(SYS_process_vm_readv); }},
    {"process-vm-writev", [] { return Try(SYS_process_vm_writev); }},
    {"pidfd-getfd", [] { return Try(SYS_pidfd_getfd); }},
    {"kcmp", [] { return Try(SYS_kcmp); }},
    {"bpf", [] { return Try(SYS_bpf); }},
    {"perf-event-open", [] { return Try(SYS_perf_event_open, 0); }},
    {"userfaultfd", [] { return CloseAfter(static_cast<int>(syscall(SYS_userfaultfd, 1))); }},
    {"add-key", [] { return Outcome(syscall(SYS_add_key, "user", "maco", "x", 1, -1)); }},
    {"request-key", [] { return Try(SYS_request_key, 0); }},
    {"keyctl", [] { return Outcome(syscall(SYS_keyctl, 0, -4, 0, 0, 0)); }},
    {"kexec-load", [] { return Try(SYS_kexec_load, 0); }},
    {"init-module", [] { return Try(SYS_init_module, 0); }},
    {"finit-module", [] { return Try(SYS_finit_module); }},
    {"delete-module", [] { return Try(SYS_delete_module, 0); }},
    {"open-by-handle-at", [] { return Try(SYS_open_by_handle_at); }},
    {"quotactl", [] { return Try(SYS_quotactl); }},
    {"swapon", [] { return Try(SYS_swapon, 0); }},
    {"reboot", [] { return Try(SYS_reboot, 0); }},
    {"syslog", [] { return Try(SYS_syslog, 10); }},
    {"fanotify-init", [] { return Try(SYS_fanotify_init, 0); }},
    {"clock-settime", [] { return Try(SYS_clock_settime, 0); }},
    {"personality", [] { return Outcome(personality(ADDR_NO_RANDOMIZE)); }},
    {"shmget", [] { return Outcome(shmget(IPC_PRIVATE, 4096, 0600)); }},
    {"semget", [] { return Outcome(semget(IPC_PRIVATE, 1, 0600)); }},
    {"msgget", [] { return Outcome(msgget(IPC_PRIVATE, 0600)); }},
    {"mq-open", [] { return CloseAfter(mq_open("/maco-probe", O_CREAT | O_RDWR, 0600, nullptr)); }},
    {"tiocsti", [] { return TryIoctl(TIOCSTI); }},
    {"tiocsti-high-bits", [] { return TryIoctl(TIOCSTI | kHighBits); }},
    {"tioclinux", [] { return TryIoctl(TIOCLINUX); }},
    {"foreign-abi", TryForeignAbi},
};

}  // namespace

int Probe(const std::string& name) {
  for (const auto& probe : kProbes) {
    if (name == probe.name) {
      return probe.attempt();
    }
  }
  return ENOSYS;
}

std::vector<std::string> AllProbes() {
  std::vector<std::string> out;
  for (const auto& probe : kProbes) {
    out.emplace_back(probe.name);
  }
  return out;
}

}  // namespace maco::run

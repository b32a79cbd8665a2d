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
#include <sys/msg.h>
#include <sys/personality.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "maco-run/guardian/plain_calls.h"

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
  const int result = Outcome(at ? syscall(SYS_mknodat, AT_FDCWD, kScratch, type | 0600U, 0)
                                : syscall(SYS_mknod, kScratch, type | 0600U, 0));
  unlink(kScratch);
  return result;
}

// The first of two attempts that does not meet the filter.
template <typename Attempt>
int Both(mode_t one, mode_t other, Attempt attempt) {
  const int result = attempt(one);
  return result == EPERM ? attempt(other) : result;
}

int TryDevice(bool at) {
  return Both(S_IFCHR, S_IFBLK, [at](mode_t type) { return TryNode(type, at); });
}

// A call that sets a file's mode, given the number of a file and its name.
template <typename Call>
int TrySetId(Call call) {
  const int fd = open(kScratch, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0) {
    return ENOSYS;
  }
  const int result =
      Both(S_ISUID | 0700U, S_ISGID | 0700U, [&](mode_t mode) { return Outcome(call(fd, mode)); });
  close(fd);
  unlink(kScratch);
  return result;
}

// A call that makes the scratch file with a mode.
template <typename Call>
int TryCreateSetId(Call call) {
  return Both(S_ISUID | 0700U, S_ISGID | 0700U, [&](mode_t mode) {
    const int result = CloseAfter(static_cast<int>(call(mode)));
    unlink(kScratch);
    return result;
  });
}

// It leaves a device node, 0:0, in the old place of the file.
int TryWhiteout() {
  const int fd = open(kScratch, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0) {
    return ENOSYS;
  }
  close(fd);
  const int result =
      Outcome(syscall(SYS_renameat2, AT_FDCWD, kScratch, AT_FDCWD, kScratchLink, RENAME_WHITEOUT));
  unlink(kScratch);
  unlink(kScratchLink);
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

int TryOldAbi() {
  // By the i386 gate, where 64 is getppid(2). Where the kernel has none, the child dies. User-mode
  // Linux on a host that has it takes the number for one of x86-64, semget(2), which the filter
  // denies as well; without the filter there is no such key.
  return InChild([] {
    long result = 64;
    asm volatile("int $0x80"
                 : "+a"(result)
                 : "D"(1L), "S"(0L), "d"(0L)
                 : "memory", "r8", "r9", "r10", "r11");
    return result < 0 ? static_cast<int>(-result) : 0;
  });
}

int TryIoctl(unsigned long request) {
  return Outcome(syscall(SYS_ioctl, STDIN_FILENO, request, "x"));
}

// Both requests make a tree of the host's file system appear under a new name, btrfs-ioctl(2).
int TryBtrfs() {
  constexpr unsigned long kSubvolumeCreate = 0x5000940E;
  constexpr unsigned long kSnapshotCreate = 0x50009401;
  const int result = TryIoctl(kSubvolumeCreate);
  return result == EPERM ? TryIoctl(kSnapshotCreate) : result;
}

int TryLease(unsigned long bits) {
  close(open(kScratch, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  const int fd = open(kScratch, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return ENOSYS;  // the scratch place is not there: nothing was tried
  }
  const int result = Outcome(syscall(SYS_fcntl, fd, F_SETLEASE | bits, F_RDLCK));
  close(fd);
  unlink(kScratch);
  return result;
}

struct NamedProbe {
  const char* name;
  int (*attempt)();
};

constexpr unsigned long kHighBits = 1UL << 32U;
constexpr int kFchmodat2 = 452;

const NamedProbe kProbes[] = {
    {"socket-unix", [] { return TrySocket(AF_UNIX, SOCK_STREAM); }},
    {"socket-inet", [] { return TrySocket(AF_INET, SOCK_STREAM); }},
    {"socket-inet6", [] { return TrySocket(AF_INET6, SOCK_DGRAM); }},
    {"socket-netlink", [] { return TrySocket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE); }},
    {"socket-vsock", [] { return TrySocket(AF_VSOCK, SOCK_STREAM); }},
    {"socketpair-datagram", [] { return TryPair(SOCK_DGRAM); }},
    {"socketpair-raw", [] { return TryPair(SOCK_RAW); }},  // the kernel makes datagram of it
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
    {"mknod-socket-old", [] { return TryNode(S_IFSOCK, false); }},
    {"mknod-device", [] { return TryDevice(true); }},
    {"mknod-device-old", [] { return TryDevice(false); }},
    {"rename-whiteout", TryWhiteout},
    {"setuid-chmod",
     [] { return TrySetId([](int, mode_t mode) { return syscall(SYS_chmod, kScratch, mode); }); }},
    {"setuid-fchmod",
     [] { return TrySetId([](int fd, mode_t mode) { return fchmod(fd, mode); }); }},
    {"setuid-fchmodat",
     [] {
       return TrySetId(
           [](int, mode_t mode) { return syscall(SYS_fchmodat, AT_FDCWD, kScratch, mode); });
     }},
    {"setuid-fchmodat2",
     [] {
       return TrySetId(
           [](int, mode_t mode) { return syscall(kFchmodat2, AT_FDCWD, kScratch, mode, 0); });
     }},
    {"setuid-create",
     [] {
       return TryCreateSetId([](mode_t mode) {
         return syscall(SYS_openat, AT_FDCWD, kScratch, O_CREAT | O_EXCL | O_WRONLY, mode);
       });
     }},
    {"setuid-open",
     [] {
       return TryCreateSetId([](mode_t mode) {
         return syscall(SYS_open, kScratch, O_CREAT | O_EXCL | O_WRONLY, mode);
       });
     }},
    {"setuid-creat",
     [] { return TryCreateSetId([](mode_t mode) { return syscall(SYS_creat, kScratch, mode); }); }},
    {"setuid-mknod",
     [] {
       return Both(S_ISUID, S_ISGID, [](mode_t bit) { return TryNode(S_IFREG | bit, true); });
     }},
    {"setuid-mknod-old",
     [] {
       return Both(S_ISUID, S_ISGID, [](mode_t bit) { return TryNode(S_IFREG | bit, false); });
     }},
    {"unshare-user", [] { return TryUnshare(CLONE_NEWUSER); }},
    {"unshare-mount", [] { return TryUnshare(CLONE_NEWNS); }},
    {"clone-user", [] { return TryClone(CLONE_NEWUSER); }},
    {"clone3", TryClone3},
    {"userfaultfd", [] { return CloseAfter(static_cast<int>(syscall(SYS_userfaultfd, 1))); }},
    {"personality", [] { return Outcome(personality(ADDR_NO_RANDOMIZE)); }},
    {"shmget", [] { return Outcome(shmget(IPC_PRIVATE, 4096, 0600)); }},
    {"semget", [] { return Outcome(semget(IPC_PRIVATE, 1, 0600)); }},
    {"msgget", [] { return Outcome(msgget(IPC_PRIVATE, 0600)); }},
    {"mq-open", [] { return CloseAfter(mq_open("/maco-probe", O_CREAT | O_RDWR, 0600, nullptr)); }},
    {"fanotify-init",
     [] {
       constexpr long kReportFid = 0x200;  // what needs no privilege
       return CloseAfter(static_cast<int>(syscall(SYS_fanotify_init, kReportFid, O_RDONLY)));
     }},
    {"tiocsti", [] { return TryIoctl(TIOCSTI); }},
    {"tiocsti-high-bits", [] { return TryIoctl(TIOCSTI | kHighBits); }},
    {"tioclinux", [] { return TryIoctl(TIOCLINUX); }},
    {"btrfs-snapshot", TryBtrfs},
    {"lease", [] { return TryLease(0); }},
    {"lease-high-bits", [] { return TryLease(kHighBits); }},
    {"foreign-abi", TryForeignAbi},
    {"old-abi", TryOldAbi},
};

}  // namespace

int Probe(const std::string& name) {
  for (const auto& probe : kProbes) {
    if (name == probe.name) {
      return probe.attempt();
    }
  }
  return TryPlainCall(name);
}

std::vector<std::string> AllProbes() {
  std::vector<std::string> out;
  for (const auto& probe : kProbes) {
    out.emplace_back(probe.name);
  }
  const auto plain = AllPlainCalls();
  out.insert(out.end(), plain.begin(), plain.end());
  return out;
}

}  // namespace maco::run

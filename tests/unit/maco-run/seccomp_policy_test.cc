// The filter, call by call: what is denied, what stays allowed, and which argument decides.
// Contract under test: maco-run/policy/seccomp_policy.h. Requirements RUN-07, RUN-08.
#include "maco-run/policy/seccomp_policy.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <sched.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>

#include "maco-run/policy/privileged_calls.h"
#include "tests/unit/maco-run/bpf_machine.h"

namespace maco::run {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kOwnArch = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kOwnArch = AUDIT_ARCH_AARCH64;
#else
#error "state the architecture here"
#endif

constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t kEperm = SECCOMP_RET_ERRNO | EPERM;
constexpr std::uint32_t kEacces = SECCOMP_RET_ERRNO | EACCES;
constexpr std::uint32_t kEnosys = SECCOMP_RET_ERRNO | ENOSYS;

using Arguments = std::initializer_list<std::uint64_t>;

const BpfMachine& Filter() {
  static const BpfMachine machine(*BuildOfflineFilter());
  return machine;
}

std::uint32_t Ask(const BpfMachine& machine, long number, Arguments arguments = {},
                  std::uint32_t arch = kOwnArch) {
  seccomp_data data{};
  data.nr = static_cast<int>(number);
  data.arch = arch;
  std::size_t i = 0;
  for (const std::uint64_t argument : arguments) {
    data.args[i++] = argument;
  }
  const auto answer = machine.Run(data);
  EXPECT_TRUE(answer.has_value()) << "call " << number;
  return answer.value_or(0);
}

std::uint32_t Ask(long number, Arguments arguments = {}) {
  return Ask(Filter(), number, arguments);
}

struct Call {
  const char* name;
  long number;
};

std::uint32_t Denied(const Call& call) { return IsPrivilegedCall(call.name) ? kEacces : kEperm; }

constexpr Call kAlwaysDenied[] = {
    {"socket", SYS_socket},
    {"bind", SYS_bind},
    {"connect", SYS_connect},
    {"listen", SYS_listen},
    {"accept", SYS_accept},
    {"accept4", SYS_accept4},
    {"io_uring_setup", SYS_io_uring_setup},
    {"io_uring_enter", SYS_io_uring_enter},
    {"io_uring_register", SYS_io_uring_register},
    {"linkat", SYS_linkat},
    {"mount", SYS_mount},
    {"umount2", SYS_umount2},
    {"pivot_root", SYS_pivot_root},
    {"chroot", SYS_chroot},
    {"open_tree", SYS_open_tree},
    {"move_mount", SYS_move_mount},
    {"fsopen", SYS_fsopen},
    {"fsconfig", SYS_fsconfig},
    {"fsmount", SYS_fsmount},
    {"fspick", SYS_fspick},
    {"mount_setattr", SYS_mount_setattr},
    {"setns", SYS_setns},
    {"ptrace", SYS_ptrace},
    {"process_vm_readv", SYS_process_vm_readv},
    {"process_vm_writev", SYS_process_vm_writev},
    {"process_madvise", SYS_process_madvise},
    {"pidfd_getfd", SYS_pidfd_getfd},
    {"kcmp", SYS_kcmp},
    {"bpf", SYS_bpf},
    {"perf_event_open", SYS_perf_event_open},
    {"userfaultfd", SYS_userfaultfd},
    {"add_key", SYS_add_key},
    {"request_key", SYS_request_key},
    {"keyctl", SYS_keyctl},
    {"kexec_load", SYS_kexec_load},
    {"kexec_file_load", SYS_kexec_file_load},
    {"init_module", SYS_init_module},
    {"finit_module", SYS_finit_module},
    {"delete_module", SYS_delete_module},
    {"open_by_handle_at", SYS_open_by_handle_at},
    {"quotactl", SYS_quotactl},
    {"quotactl_fd", SYS_quotactl_fd},
    {"swapon", SYS_swapon},
    {"swapoff", SYS_swapoff},
    {"reboot", SYS_reboot},
    {"syslog", SYS_syslog},
    {"acct", SYS_acct},
    {"vhangup", SYS_vhangup},
    {"fanotify_init", SYS_fanotify_init},
    {"fanotify_mark", SYS_fanotify_mark},
    {"settimeofday", SYS_settimeofday},
    {"clock_settime", SYS_clock_settime},
    {"clock_adjtime", SYS_clock_adjtime},
    {"adjtimex", SYS_adjtimex},
    {"shmget", SYS_shmget},
    {"shmat", SYS_shmat},
    {"shmctl", SYS_shmctl},
    {"shmdt", SYS_shmdt},
    {"semget", SYS_semget},
    {"semop", SYS_semop},
    {"semtimedop", SYS_semtimedop},
    {"semctl", SYS_semctl},
    {"msgget", SYS_msgget},
    {"msgsnd", SYS_msgsnd},
    {"msgrcv", SYS_msgrcv},
    {"msgctl", SYS_msgctl},
    {"mq_open", SYS_mq_open},
    {"mq_unlink", SYS_mq_unlink},
    {"mq_timedsend", SYS_mq_timedsend},
    {"mq_timedreceive", SYS_mq_timedreceive},
    {"mq_notify", SYS_mq_notify},
    {"mq_getsetattr", SYS_mq_getsetattr},
    {"memfd_secret", 447},
#if defined(__x86_64__)
    {"link", SYS_link},
    {"iopl", SYS_iopl},
    {"ioperm", SYS_ioperm},
    {"uselib", SYS_uselib},
    {"sysfs", SYS_sysfs},
    {"ustat", SYS_ustat},
#endif
};

TEST(OfflineFilter, DeniesWhateverTheArguments) {
  for (const auto& call : kAlwaysDenied) {
    EXPECT_EQ(Ask(call.number), Denied(call)) << call.name;
    EXPECT_EQ(Ask(call.number, {~0ULL, ~0ULL, ~0ULL, ~0ULL, ~0ULL, ~0ULL}), Denied(call))
        << call.name;
  }
}

TEST(OfflineFilter, AllowsWhatProgramsNeed) {
  for (const long number : std::initializer_list<long>{SYS_read,
                                                       SYS_write,
                                                       SYS_close,
                                                       SYS_mmap,
                                                       SYS_execve,
                                                       SYS_exit_group,
                                                       SYS_futex,
                                                       SYS_wait4,
                                                       SYS_kill,
                                                       SYS_pipe2,
                                                       SYS_dup3,
                                                       SYS_fcntl,
                                                       SYS_ftruncate,
                                                       SYS_renameat,
                                                       SYS_unlinkat,
                                                       SYS_symlinkat,
                                                       SYS_mkdirat,
                                                       SYS_sendmsg,
                                                       SYS_recvmsg,
                                                       SYS_shutdown,
                                                       SYS_getsockopt,
                                                       SYS_memfd_create,
                                                       SYS_statx,
                                                       SYS_getrandom,
                                                       SYS_pidfd_open,
                                                       SYS_prlimit64,
                                                       SYS_setpgid,
                                                       SYS_setsid,
                                                       SYS_fchown,
                                                       SYS_utimensat,
                                                       SYS_flock,
                                                       SYS_fsync,
                                                       SYS_inotify_init1,
                                                       SYS_timerfd_create,
                                                       SYS_signalfd4,
                                                       SYS_epoll_create1,
                                                       SYS_copy_file_range,
                                                       SYS_rseq,
                                                       SYS_set_robust_list,
                                                       SYS_sched_setaffinity,
                                                       SYS_seccomp,
                                                       SYS_prctl}) {
    EXPECT_EQ(Ask(number), kAllow) << number;
  }
}

TEST(OfflineFilter, ACallWhoseFlagsLieInMemoryIsUnknown) {
  EXPECT_EQ(Ask(SYS_clone3), kEnosys);
  EXPECT_EQ(Ask(SYS_openat2), kEnosys);
}

TEST(OfflineFilter, ACallThatIsNewerThanTheListIsUnknown) {
  EXPECT_EQ(Ask(462), kAllow);  // mseal, the newest that was reviewed
  for (const long number :
       std::initializer_list<long>{463L, 464L, 467L, 500L, 1000L, 0x3FFFFFFFL}) {
    EXPECT_EQ(Ask(number), kEnosys) << number;
  }
  EXPECT_EQ(Ask(-1), kEnosys);
}

TEST(OfflineFilter, ForeignArchitecturesAreRefused) {
  for (const std::uint32_t arch : {std::uint32_t{AUDIT_ARCH_I386}, std::uint32_t{AUDIT_ARCH_ARM},
                                   std::uint32_t{AUDIT_ARCH_S390X}, std::uint32_t{0}}) {
    for (const long number : std::initializer_list<long>{1L, 20L, 102L, 359L, 462L}) {
      EXPECT_EQ(Ask(Filter(), number, {}, arch), kEperm) << arch << " " << number;
    }
    EXPECT_NE(Ask(Filter(), 500, {}, arch), kAllow);
  }
}

#if defined(__x86_64__)
TEST(OfflineFilter, TheX32AbiIsRefused) {
  constexpr long kX32 = 0x40000000;
  for (const long number :
       std::initializer_list<long>{SYS_read, SYS_getpid, SYS_socket, SYS_execve, 512L, 540L}) {
    EXPECT_EQ(Ask(kX32 | number), kEnosys) << number;
  }
  const BpfMachine without_front(*BuildOfflineFilter({"newer"}));
  EXPECT_NE(Ask(without_front, kX32 | SYS_getpid), kAllow);
  EXPECT_NE(Ask(without_front, kX32 | SYS_socket), kAllow);
}
#endif

// Whether two arguments, with other bits above, meet the same answer.
void ExpectPair(std::uint64_t family, std::uint64_t type, std::uint32_t expected) {
  EXPECT_EQ(Ask(SYS_socketpair, {family, type}), expected) << family << " " << type;
}

TEST(OfflineFilter, OnlyConnectedStreamPairsStay) {
  for (const std::uint64_t flags :
       Arguments{0ULL, std::uint64_t{SOCK_CLOEXEC}, std::uint64_t{SOCK_NONBLOCK},
                 std::uint64_t{SOCK_CLOEXEC | SOCK_NONBLOCK}}) {
    ExpectPair(AF_UNIX, SOCK_STREAM | flags, kAllow);
    ExpectPair(AF_UNIX, SOCK_SEQPACKET | flags, kAllow);
    for (const std::uint64_t type : Arguments{0, 2, 3, 4, 6, 10, 15}) {
      ExpectPair(AF_UNIX, type | flags, kEperm);
    }
  }
  // The kernel takes the low half of the register.
  ExpectPair(AF_UNIX, SOCK_DGRAM | 1ULL << 32U, kEperm);
  ExpectPair(AF_UNIX, SOCK_DGRAM | 0xF0, kEperm);
  for (const std::uint64_t family : Arguments{0, 2, 10, 16, 17, 40, 38}) {
    ExpectPair(family, SOCK_STREAM, kEperm);
  }
}

TEST(OfflineFilter, NewNamespacesAreDeniedByEachFlag) {
  for (const std::uint64_t flag : Arguments{CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET,
                                            CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP}) {
    EXPECT_EQ(Ask(SYS_unshare, {flag}), kEperm) << flag;
    EXPECT_EQ(Ask(SYS_unshare, {flag | CLONE_FILES}), kEperm) << flag;
    EXPECT_EQ(Ask(SYS_clone, {flag | SIGCHLD}), kEperm) << flag;
  }
  EXPECT_EQ(Ask(SYS_unshare, {0x80}), kEperm);  // CLONE_NEWTIME
  EXPECT_EQ(Ask(SYS_unshare, {CLONE_FILES | CLONE_FS}), kAllow);
  EXPECT_EQ(Ask(SYS_clone, {SIGCHLD}), kAllow);
  EXPECT_EQ(
      Ask(SYS_clone, {CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                      CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID}),
      kAllow);
}

TEST(OfflineFilter, OnlyRegularNodesCanBeMade) {
  for (const std::uint64_t type : Arguments{S_IFIFO, S_IFSOCK, S_IFCHR, S_IFBLK}) {
    EXPECT_EQ(Ask(SYS_mknodat, {0, 0, type | 0600}), kEperm) << type;
    EXPECT_EQ(Ask(SYS_mknodat, {0, 0, type | 0600 | 1ULL << 40U}), kEperm) << type;
#if defined(__x86_64__)
    EXPECT_EQ(Ask(SYS_mknod, {0, type | 0600}), kEperm) << type;
#endif
  }
  EXPECT_EQ(Ask(SYS_mknodat, {0, 0, S_IFREG | 0600}), kAllow);
  EXPECT_EQ(Ask(SYS_mknodat, {0, 0, 0600}), kAllow);
  EXPECT_EQ(Ask(SYS_renameat2, {0, 0, 0, 0, RENAME_NOREPLACE}), kAllow);
  EXPECT_EQ(Ask(SYS_renameat2, {0, 0, 0, 0, RENAME_WHITEOUT}), kEperm);
  EXPECT_EQ(Ask(SYS_renameat2, {0, 0, 0, 0, RENAME_WHITEOUT | RENAME_NOREPLACE}), kEperm);
}

TEST(OfflineFilter, NoSetUserIdOrSetGroupIdBit) {
  constexpr std::uint64_t kCreate = O_CREAT | O_WRONLY;
  for (const std::uint64_t mode : Arguments{04755, 02755, 06755}) {
    EXPECT_EQ(Ask(SYS_fchmod, {3, mode}), kEperm);
    EXPECT_EQ(Ask(SYS_fchmodat, {0, 0, mode}), kEperm);
    EXPECT_EQ(Ask(452, {0, 0, mode}), kEperm);  // fchmodat2
    EXPECT_EQ(Ask(SYS_openat, {0, 0, kCreate, mode}), kEperm);
    EXPECT_EQ(Ask(SYS_mknodat, {0, 0, S_IFREG | mode}), kEperm);
#if defined(__x86_64__)
    EXPECT_EQ(Ask(SYS_chmod, {0, mode}), kEperm);
    EXPECT_EQ(Ask(SYS_creat, {0, mode}), kEperm);
    EXPECT_EQ(Ask(SYS_open, {0, kCreate, mode}), kEperm);
    EXPECT_EQ(Ask(SYS_mknod, {0, S_IFREG | mode}), kEperm);
#endif
    // Without O_CREAT the mode means nothing, whatever lies in the register.
    EXPECT_EQ(Ask(SYS_openat, {0, 0, O_RDONLY, mode}), kAllow);
  }
  for (const std::uint64_t mode : Arguments{0755, 01777, 0}) {
    EXPECT_EQ(Ask(SYS_fchmod, {3, mode}), kAllow);
    EXPECT_EQ(Ask(SYS_fchmodat, {0, 0, mode}), kAllow);
    EXPECT_EQ(Ask(452, {0, 0, mode}), kAllow);
    EXPECT_EQ(Ask(SYS_openat, {0, 0, kCreate, mode}), kAllow);
  }
}

TEST(OfflineFilter, TerminalInputAndSnapshotsAreDeniedByTheLowHalf) {
  for (const std::uint64_t request : Arguments{0x5412ULL, 0x541CULL, 0x5000940EULL, 0x50009401ULL,
                                               0x50009418ULL, 0x50009417ULL}) {
    EXPECT_EQ(Ask(SYS_ioctl, {0, request}), kEperm) << request;
    EXPECT_EQ(Ask(SYS_ioctl, {0, request | 1ULL << 32U}), kEperm) << request;
    EXPECT_EQ(Ask(SYS_ioctl, {0, request | 0xFFFFFFFFULL << 32U}), kEperm) << request;
  }
  EXPECT_EQ(Ask(SYS_ioctl, {0, 0x5401}), kAllow);  // TCGETS
  EXPECT_EQ(Ask(SYS_ioctl, {0, 0x5413}), kAllow);  // TIOCGWINSZ
}

TEST(OfflineFilter, PersonalityCanBeAskedOnly) {
  EXPECT_EQ(Ask(SYS_personality, {0xFFFFFFFF}), kAllow);
  EXPECT_EQ(Ask(SYS_personality, {0}), kAllow);
  for (const std::uint64_t persona :
       Arguments{0x0040000ULL, 0x0400000ULL, 0x0100000ULL, 0x8ULL, 0x1ULL, 0x80000000ULL,
                 0x7FFFFFFFULL, 0xFFFFFFFEULL, 0x55555555ULL}) {
    EXPECT_EQ(Ask(SYS_personality, {persona}), kEperm) << persona;
  }
  for (unsigned bit = 0; bit < 32; ++bit) {
    EXPECT_EQ(Ask(SYS_personality, {1ULL << bit}), kEperm) << bit;
    EXPECT_EQ(Ask(SYS_personality, {0xFFFFFFFFULL & ~(1ULL << bit)}), kEperm) << bit;
  }
}

// The tests of the gate leave one rule out and need to see that it was the one that denied.
TEST(OfflineFilter, ARuleThatIsLeftOutDeniesNoMore) {
  for (const auto& call : kAlwaysDenied) {
    const auto bytes = BuildOfflineFilter({call.name});
    ASSERT_TRUE(bytes.has_value());
    const BpfMachine machine(*bytes);
    EXPECT_EQ(Ask(machine, call.number), kAllow) << call.name;
    for (const auto& other : {kAlwaysDenied[0], kAlwaysDenied[9], kAlwaysDenied[28]}) {
      EXPECT_EQ(Ask(machine, other.number), other.number == call.number ? kAllow : Denied(other));
    }
  }
  const BpfMachine clones(*BuildOfflineFilter({"clone3", "unshare", "newer"}));
  EXPECT_EQ(Ask(clones, SYS_clone3), kAllow);
  EXPECT_EQ(Ask(clones, SYS_unshare, {CLONE_NEWUSER}), kAllow);
  EXPECT_EQ(Ask(clones, 463), kAllow);
}

TEST(OfflineFilter, IsTheSameEachTimeAndSmallEnough) {
  EXPECT_EQ(*BuildOfflineFilter(), *BuildOfflineFilter());
  EXPECT_LE(Filter().size(), std::size_t{BPF_MAXINSNS});
  EXPECT_EQ(BuildOfflineFilter()->size() % sizeof(sock_filter), 0U);
}

// What the kernel makes of it, in a child: it takes the program, denies and allows.
int LoadAndTry(const Bytes& filter) {
  std::vector<sock_filter> program(filter.size() / sizeof(sock_filter));
  memcpy(program.data(), filter.data(), filter.size());
  const sock_fprog arguments{static_cast<unsigned short>(program.size()), program.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &arguments) != 0) {
    return 1;
  }
  const auto denied = [](long result, int expected) { return result == -1 && errno == expected; };
  if (!denied(socket(AF_UNIX, SOCK_STREAM, 0), EPERM) ||
      !denied(syscall(SYS_clone3, 0, 0), ENOSYS) || !denied(syscall(500), ENOSYS) ||
      !denied(unshare(CLONE_NEWUSER), EPERM)) {
    return 2;
  }
  int ends[2];
  return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 && getppid() > 0 ? 0 : 3;
}

TEST(OfflineFilter, TheKernelTakesIt) {
  const auto filter = BuildOfflineFilter();
  ASSERT_TRUE(filter.has_value());
  const pid_t child = fork();
  if (child == 0) {
    _exit(LoadAndTry(*filter));
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace maco::run

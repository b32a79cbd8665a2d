// libseccomp rules, exported as BPF, behind a check for calls that are newer than the rules.
// Contract: maco-run/policy/seccomp_policy.h.
#include "maco-run/policy/seccomp_policy.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>

#include "libcommon/os/bounded_read.h"
#include "libcommon/os/fd.h"
#include "maco-run/policy/privileged_calls.h"

namespace maco::run {
namespace {

// The newest call that this list was reviewed against: mseal(2), Linux 6.10. The number is the same
// on every architecture of ours.
constexpr std::uint32_t kNewestReviewedCall = 462;
// fchmodat2(2), Linux 6.6: newer than libseccomp 2.5.
constexpr int kFchmodat2 = 452;

constexpr const char* kDenied[] = {
    "socket",
    "bind",
    "connect",
    "listen",
    "accept",
    "accept4",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "io_setup",
    "link",
    "linkat",
    "mount",
    "umount2",
    "pivot_root",
    "chroot",
    "open_tree",
    "move_mount",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "mount_setattr",
    "setns",
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "process_madvise",
    "pidfd_getfd",
    "kcmp",
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "add_key",
    "request_key",
    "keyctl",
    "kexec_load",
    "kexec_file_load",
    "init_module",
    "finit_module",
    "delete_module",
    "open_by_handle_at",
    "quotactl",
    "quotactl_fd",
    "swapon",
    "swapoff",
    "reboot",
    "syslog",
    "acct",
    "vhangup",
    "iopl",
    "ioperm",
    "lookup_dcookie",
    "fanotify_init",
    "fanotify_mark",
    "settimeofday",
    "clock_settime",
    "clock_adjtime",
    "adjtimex",
    "shmget",
    "shmat",
    "shmctl",
    "shmdt",
    "semget",
    "semop",
    "semtimedop",
    "semctl",
    "msgget",
    "msgsnd",
    "msgrcv",
    "msgctl",
    "mq_open",
    "mq_unlink",
    "mq_timedsend",
    "mq_timedreceive",
    "mq_notify",
    "mq_getsetattr",
    "memfd_secret",
    "nfsservctl",
    "uselib",
    "sysfs",
    "ustat",
};

constexpr std::uint64_t kNamespaceFlags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID |
                                          CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |
                                          CLONE_NEWCGROUP | 0x00000080 /* CLONE_NEWTIME */;

struct Release {
  void operator()(void* context) const { seccomp_release(context); }
};
using Context = std::unique_ptr<void, Release>;

class Builder {
 public:
  explicit Builder(const std::set<std::string>& omit)
      : context_(seccomp_init(SCMP_ACT_ALLOW)), omit_(omit) {}

  Result<Bytes> Build() {
    if (!context_) {
      return Fail(Code::kUnsupported, "libseccomp cannot build a filter here");
    }
    Check(seccomp_attr_set(context_.get(), SCMP_FLTATR_ACT_BADARCH,
                           omit_.contains("foreign") ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EPERM)),
          "foreign architectures");
    for (const char* name : kDenied) {
      Deny(name);
    }
    DenyNamespaces();
    DenyPairs();
    DenyNodes();
    DenySetuid();
    DenyRequests();
    DenyPersonality();
    DenyLeases();
    Deny("clone3", SCMP_ACT_ERRNO(ENOSYS));
    Deny("openat2", SCMP_ACT_ERRNO(ENOSYS));
    if (!failed_.empty()) {
      return Fail(Code::kUnsupported, "libseccomp cannot deny " + failed_,
                  "install libseccomp 2.5.4 or newer");
    }
    return Export();
  }

 private:
  void Check(int result, const std::string& what) {
    if (result != 0 && failed_.empty()) {
      failed_ = what;
    }
  }

  template <typename... Comparisons>
  void Deny(const char* name, std::uint32_t action, Comparisons... comparisons) {
    if (omit_.contains(name)) {
      return;
    }
    const int number = seccomp_syscall_resolve_name(name);
    if (number == __NR_SCMP_ERROR) {
      Check(-ENOENT, name);
      return;
    }
    if (number < 0) {
      return;  // this architecture has no such call
    }
    Check(seccomp_rule_add(context_.get(), action, number, sizeof...(comparisons), comparisons...),
          name);
  }

  void Deny(const char* name) {
    Deny(name, IsPrivilegedCall(name) ? SCMP_ACT_ERRNO(EACCES) : SCMP_ACT_ERRNO(EPERM));
  }

  void DenyNamespaces() {
    for (unsigned bit = 0; bit < 64; ++bit) {
      const std::uint64_t flag = 1UL << bit;
      if ((kNamespaceFlags & flag) == 0) {
        continue;
      }
      const auto set = SCMP_A0(SCMP_CMP_MASKED_EQ, flag, flag);
      Deny("unshare", SCMP_ACT_ERRNO(EPERM), set);
      if (flag != 0x80) {  // CLONE_NEWTIME lies in the exit signal's bits of clone(2)
        Deny("clone", SCMP_ACT_ERRNO(EPERM), set);
      }
    }
  }

  void DenyPairs() {
    // Every family but AF_UNIX, and of AF_UNIX every type but stream and seqpacket; the type's
    // upper bits are flags.
    Deny("socketpair", SCMP_ACT_ERRNO(EPERM), SCMP_A0(SCMP_CMP_NE, AF_UNIX, 0));
    for (std::uint64_t type = 0; type < 16; ++type) {
      if (type != SOCK_STREAM && type != SOCK_SEQPACKET) {
        Deny("socketpair", SCMP_ACT_ERRNO(EPERM), SCMP_A1(SCMP_CMP_MASKED_EQ, 0xF, type));
      }
    }
  }

  void DenyNodes() {
    for (const std::uint64_t type :
         {0010000U, 0140000U, 0020000U, 0060000U}) {  // S_IFIFO, ...SOCK, CHR, BLK
      Deny("mknod", SCMP_ACT_ERRNO(EPERM), SCMP_A1(SCMP_CMP_MASKED_EQ, S_IFMT, type));
      Deny("mknodat", SCMP_ACT_ERRNO(EPERM), SCMP_A2(SCMP_CMP_MASKED_EQ, S_IFMT, type));
    }
    // It leaves a device node 0:0 in the old place of a file.
    Deny("renameat2", SCMP_ACT_ERRNO(EPERM),
         SCMP_A4(SCMP_CMP_MASKED_EQ, RENAME_WHITEOUT, RENAME_WHITEOUT));
  }

  void DenySetuid() {
    for (const std::uint64_t bit : {04000U, 02000U}) {  // S_ISUID, S_ISGID
      const auto a1 = SCMP_A1(SCMP_CMP_MASKED_EQ, bit, bit);
      const auto a2 = SCMP_A2(SCMP_CMP_MASKED_EQ, bit, bit);
      const auto a3 = SCMP_A3(SCMP_CMP_MASKED_EQ, bit, bit);
      Deny("chmod", SCMP_ACT_ERRNO(EPERM), a1);
      Deny("fchmod", SCMP_ACT_ERRNO(EPERM), a1);
      Deny("fchmodat", SCMP_ACT_ERRNO(EPERM), a2);
      Deny("creat", SCMP_ACT_ERRNO(EPERM), a1);
      Deny("mknod", SCMP_ACT_ERRNO(EPERM), a1);
      Deny("mknodat", SCMP_ACT_ERRNO(EPERM), a2);
      Deny("open", SCMP_ACT_ERRNO(EPERM), SCMP_A1(SCMP_CMP_MASKED_EQ, O_CREAT, O_CREAT), a2);
      Deny("openat", SCMP_ACT_ERRNO(EPERM), SCMP_A2(SCMP_CMP_MASKED_EQ, O_CREAT, O_CREAT), a3);
      if (!omit_.contains("fchmodat2")) {
        Check(seccomp_rule_add(context_.get(), SCMP_ACT_ERRNO(EPERM), kFchmodat2, 1, a2),
              "fchmodat2");
      }
    }
  }

  void DenyRequests() {
    // The kernel looks at 32 bits of the request only.
    constexpr std::uint64_t kLow = 0xFFFFFFFF;
    // Terminal input: TIOCSTI, TIOCLINUX. btrfs-ioctl(2), subvolumes and snapshots (old and new
    // form): a snapshot shows under a writable root what the unit has masked elsewhere.
    for (const std::uint64_t request :
         {0x5412U, 0x541CU, 0x5000940EU, 0x50009401U, 0x50009418U, 0x50009417U}) {
      Deny("ioctl", SCMP_ACT_ERRNO(EPERM), SCMP_A1(SCMP_CMP_MASKED_EQ, kLow, request));
    }
  }

  // A lease on a file that can only be read makes others wait who want to write it, outside too.
  void DenyLeases() {
    constexpr std::uint64_t kLow = 0xFFFFFFFF;  // of the command, as above
    Deny("fcntl", SCMP_ACT_ERRNO(EPERM), SCMP_A1(SCMP_CMP_MASKED_EQ, kLow, F_SETLEASE));
  }

  void DenyPersonality() {
    // personality(0xffffffff) only asks, and 0 is what everybody has. Every other value has a set
    // bit whose neighbour (cyclically) is clear.
    for (unsigned bit = 0; bit < 32; ++bit) {
      const std::uint64_t set = 1UL << bit;
      const std::uint64_t clear = 1UL << (bit + 1) % 32;
      Deny("personality", SCMP_ACT_ERRNO(EPERM), SCMP_A0(SCMP_CMP_MASKED_EQ, set | clear, set));
    }
  }

  Result<Bytes> Export() {
    const UniqueFd file(memfd_create("filter", MFD_CLOEXEC));
    if (!file.valid()) {
      return FailOs(errno, "create a memory file");
    }
    if (const int result = seccomp_export_bpf(context_.get(), file.get()); result != 0) {
      return FailOs(-result, "export the system call filter");
    }
    Bytes rules;
    MACO_ASSIGN(rules, ReadAllAt(file.get(), BPF_MAXINSNS * sizeof(sock_filter)));
    if (omit_.contains("newer")) {
      return rules;
    }
    // Jumps are relative, so instructions can stand in front.
    const std::array<sock_filter, 3> newer{{
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, kNewestReviewedCall, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
    }};
    Bytes program(sizeof newer);
    memcpy(program.data(), newer.data(), sizeof newer);
    program.insert(program.end(), rules.begin(), rules.end());
    return program;
  }

  Context context_;
  const std::set<std::string>& omit_;
  std::string failed_;
};

}  // namespace

Result<Bytes> BuildOfflineFilter(const std::set<std::string>& omit) {
  return Builder(omit).Build();
}

}  // namespace maco::run

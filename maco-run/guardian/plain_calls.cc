// System calls with arguments that name nothing real, for the probes.
// Contract: maco-run/guardian/plain_calls.h.
#include "maco-run/guardian/plain_calls.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace maco::run {
namespace {

struct PlainCall {
  const char* name;
  long number;
  long arguments[5];
};

constexpr long kNowhere = -1;  // as a descriptor, a process, a pointer

// Behind each call, what it meets without the filter.
const PlainCall kPlainCalls[] = {
    {"io-uring-enter", SYS_io_uring_enter, {kNowhere}},        // EBADF
    {"io-uring-register", SYS_io_uring_register, {kNowhere}},  // EBADF
    {"io-setup", SYS_io_setup, {kNowhere}},                    // EFAULT
    {"accept-old", SYS_accept, {kNowhere}},                    // EBADF
    {"mount", SYS_mount, {0, 0, kNowhere}},                    // EFAULT
    {"umount", SYS_umount2, {0, 0x40000000}},                  // EINVAL
    {"pivot-root", SYS_pivot_root, {}},                        // privilege
    {"chroot", SYS_chroot, {}},                                // EFAULT
    {"open-tree", SYS_open_tree, {kNowhere}},                  // EFAULT
    {"move-mount", SYS_move_mount, {kNowhere}},                // privilege
    {"fsopen", SYS_fsopen, {}},                                // privilege
    {"fsconfig", SYS_fsconfig, {kNowhere}},                    // EINVAL
    {"fsmount", SYS_fsmount, {kNowhere}},                      // privilege
    {"fspick", SYS_fspick, {kNowhere}},                        // privilege
    {"mount-setattr", SYS_mount_setattr, {kNowhere}},          // EINVAL
    {"setns", SYS_setns, {kNowhere}},                          // EBADF
    {"ptrace", SYS_ptrace, {PTRACE_ATTACH, 0x7FFFFFFF}},       // ESRCH
    {"process-vm-readv", SYS_process_vm_readv, {kNowhere}},    // no error
    {"process-vm-writev", SYS_process_vm_writev, {kNowhere}},  // no error
    {"process-madvise", SYS_process_madvise, {kNowhere}},      // EBADF
    {"pidfd-getfd", SYS_pidfd_getfd, {kNowhere}},              // EBADF
    {"kcmp", SYS_kcmp, {kNowhere}},                            // ESRCH
    {"bpf", SYS_bpf, {kNowhere}},                              // EINVAL
    {"perf-event-open", SYS_perf_event_open, {}},              // EFAULT
    {"add-key", SYS_add_key, {kNowhere}},                      // EFAULT
    {"request-key", SYS_request_key, {}},                      // EFAULT
    {"keyctl", SYS_keyctl, {0, -4}},                           // ENOKEY, or none
    {"kexec-load", SYS_kexec_load, {}},                        // privilege
    {"kexec-file-load", SYS_kexec_file_load, {kNowhere}},      // privilege
    {"init-module", SYS_init_module, {}},                      // privilege
    {"finit-module", SYS_finit_module, {kNowhere}},            // privilege
    {"delete-module", SYS_delete_module, {}},                  // privilege
    {"open-by-handle-at", SYS_open_by_handle_at, {kNowhere}},  // privilege
    {"quotactl", SYS_quotactl, {kNowhere}},                    // EINVAL
    {"quotactl-fd", SYS_quotactl_fd, {kNowhere}},              // EBADF
    {"swapon", SYS_swapon, {0, 0x40000000}},                   // EINVAL
    {"swapoff", SYS_swapoff, {}},                              // privilege
    {"reboot", SYS_reboot, {}},                                // privilege
    {"syslog", SYS_syslog, {10}},                              // privilege
    {"acct", SYS_acct, {kNowhere}},                            // privilege
    {"vhangup", SYS_vhangup, {}},                              // privilege
    {"iopl", SYS_iopl, {4}},                                   // EINVAL
    {"ioperm", SYS_ioperm, {kNowhere}},                        // EINVAL
    {"lookup-dcookie", SYS_lookup_dcookie, {}},                // privilege
    {"fanotify-mark", SYS_fanotify_mark, {kNowhere}},          // EINVAL
    {"settimeofday", SYS_settimeofday, {kNowhere}},            // EFAULT
    {"clock-settime", SYS_clock_settime, {}},                  // EFAULT
    {"clock-adjtime", SYS_clock_adjtime, {}},                  // EFAULT
    {"adjtimex", SYS_adjtimex, {}},                            // EFAULT
    {"shmat", SYS_shmat, {kNowhere}},                          // EINVAL
    {"shmctl", SYS_shmctl, {kNowhere, kNowhere}},              // EINVAL
    {"shmdt", SYS_shmdt, {1}},                                 // EINVAL
    {"semop", SYS_semop, {kNowhere}},                          // EINVAL
    {"semtimedop", SYS_semtimedop, {kNowhere}},                // EINVAL
    {"semctl", SYS_semctl, {kNowhere, 0, kNowhere}},           // EINVAL
    {"msgsnd", SYS_msgsnd, {kNowhere}},                        // EFAULT
    {"msgrcv", SYS_msgrcv, {kNowhere}},                        // EINVAL
    {"msgctl", SYS_msgctl, {kNowhere, kNowhere}},              // EINVAL
    {"mq-unlink", SYS_mq_unlink, {}},                          // EFAULT
    {"mq-timedsend", SYS_mq_timedsend, {kNowhere}},            // EBADF
    {"mq-timedreceive", SYS_mq_timedreceive, {kNowhere}},      // EBADF
    {"mq-notify", SYS_mq_notify, {kNowhere}},                  // EBADF
    {"mq-getsetattr", SYS_mq_getsetattr, {kNowhere}},          // EBADF
    {"memfd-secret", SYS_memfd_secret, {kNowhere}},            // EINVAL or ENOSYS
    {"nfsservctl", SYS_nfsservctl, {}},                        // ENOSYS
    {"uselib", SYS_uselib, {}},                                // ENOSYS or EFAULT
    {"sysfs", SYS_sysfs, {99}},                                // EINVAL
    {"ustat", SYS_ustat, {}},                                  // EINVAL
    {"openat2", SYS_openat2, {kNowhere}},                      // EINVAL
};

}  // namespace

int TryPlainCall(const std::string& name) {
  for (const auto& call : kPlainCalls) {
    if (name == call.name) {
      const auto& a = call.arguments;
      return syscall(call.number, a[0], a[1], a[2], a[3], a[4]) < 0 ? errno : 0;
    }
  }
  return ENOSYS;
}

std::vector<std::string> AllPlainCalls() {
  std::vector<std::string> out;
  for (const auto& call : kPlainCalls) {
    out.emplace_back(call.name);
  }
  return out;
}

}  // namespace maco::run

// The system call filter of a run, built by libseccomp and handed to the guardian as BPF.
// What matters most has a probe in maco-run/guardian/probes.h. Source: seccomp(2),
// seccomp_rule_add(3).
#pragma once
#include <set>
#include <string>

#include "libcommon/base/byte_codec.h"
#include "libcommon/base/result.h"

namespace maco::run {

// The deny list of the offline profiles, EPERM unless stated (privileged_calls.h: EACCES):
// - socket, and datagram socketpair, bind, connect, listen, accept: a stream or seqpacket pair
//   stays, since it reaches nobody (RUN-08);
// - io_uring, which would do all of these past the filter; asynchronous I/O, whose contexts are
//   counted for the whole host; leases on files, which hold up writers outside;
// - hard links, nodes other than regular files, set-user-ID and set-group-ID bits;
// - mounts, namespaces, chroot (clone3 and openat2: ENOSYS, their flags lie in memory);
// - ptrace, process_vm, pidfd_getfd, kcmp; bpf, perf, keys, userfaultfd, modules, kexec, clock,
//   quota, swap, raw I/O, open_by_handle_at, fanotify, syslog, reboot, personality;
// - System V IPC, POSIX message queues; TIOCSTI and TIOCLINUX, also with high bits;
// - every foreign ABI, and every call that is newer than this list (ENOSYS).
// `omit` leaves named system calls out: only tests pass it, to see the gate refuse.
// Errors: kUnsupported (libseccomp lacks a call), kIo.
Result<Bytes> BuildOfflineFilter(const std::set<std::string>& omit = {});

}  // namespace maco::run

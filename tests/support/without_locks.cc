// Runs a command on "a file system without open-file-description locks": every attempt to take one
// fails with ENOLCK, as on a network file system without a lock server. Source: fcntl(2).
// usage: without_locks COMMAND [ARGUMENT]...
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

int main(int argc, char** argv) {
  if (argc < 2) {
    fputs("usage: without_locks COMMAND [ARGUMENT]...\n", stderr);
    return 64;
  }
  // The low half of the second argument, on a little-endian machine.
  constexpr auto kCommand = static_cast<unsigned>(offsetof(seccomp_data, args) + sizeof(__u64));
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kCommand),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_OFD_SETLK, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_OFD_SETLKW, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOLCK),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{sizeof code / sizeof code[0], code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) {
    perror("without_locks: load the filter");
    return 70;
  }
  execvp(argv[1], argv + 1);
  perror("without_locks: execute the command");
  return 70;
}

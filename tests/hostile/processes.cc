// Reaches for other processes: signals, ptrace, memory, descriptors, priorities, limits.
// Parameters: victim= a process outside (of the same user); the guardian is process 1 inside.
// Frame: tests/hostile/attempt.h.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "tests/hostile/attempt.h"

namespace {

using hostile::CloseAfter;
using hostile::kIgnored;
using hostile::Number;
using hostile::Outcome;

pid_t Victim() { return static_cast<pid_t>(Number("victim")); }

std::string Proc(const char* file) { return "/proc/" + std::to_string(Victim()) + "/" + file; }

int Trace() {
  const pid_t victim = Victim();
  if (ptrace(PTRACE_SEIZE, victim, nullptr, nullptr) != 0) {
    return errno;
  }
  ptrace(PTRACE_INTERRUPT, victim, nullptr, nullptr);
  waitpid(victim, nullptr, 0);
  ptrace(PTRACE_DETACH, victim, nullptr, nullptr);
  return 0;
}

// EFAULT: the kernel looked for the address, so the caller may read there.
int Transfer(long call) {
  char byte = 0;
  iovec local{&byte, 1};
  iovec remote{nullptr, 1};
  const int result = Outcome(syscall(call, Victim(), &local, 1UL, &remote, 1UL, 0UL));
  return result == EFAULT ? 0 : result;
}

int OpenOf(const char* file, int flags) { return CloseAfter(open(Proc(file).c_str(), flags)); }

int ReadOf(const char* file) {
  const int fd = open(Proc(file).c_str(), O_RDONLY);
  if (fd < 0) {
    return errno;
  }
  char byte = 0;
  const long n = read(fd, &byte, 1);
  const int result = n < 0 ? errno : n == 0 ? ENODATA : 0;
  close(fd);
  return result;
}

int ReadLinkOf(const char* file) {
  char target[256];
  return Outcome(readlink(Proc(file).c_str(), target, sizeof target));
}

int OnPidfd(int (*call)(int)) {
  const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, Victim(), 0));
  if (pidfd < 0) {
    return errno;
  }
  const int result = call(pidfd);
  close(pidfd);
  return result;
}

int TakeDescriptor(int pidfd) { return CloseAfter(syscall(SYS_pidfd_getfd, pidfd, 0, 0)); }

int SignalByPidfd(int pidfd) {
  return Outcome(syscall(SYS_pidfd_send_signal, pidfd, 0, nullptr, 0));
}

int Priority() {
  const int before = getpriority(PRIO_PROCESS, static_cast<id_t>(Victim()));
  return errno == ESRCH && before == -1
             ? ESRCH
             : Outcome(setpriority(PRIO_PROCESS, static_cast<id_t>(Victim()), 5));
}

int Affinity() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(0, &cpus);
  return Outcome(sched_setaffinity(Victim(), sizeof cpus, &cpus));
}

int Limit() {
  rlimit64 limit{};
  return Outcome(prlimit64(Victim(), RLIMIT_NOFILE, nullptr, &limit));
}

// A signal to everybody: at least one process besides this one and process 1 is within reach.
int ReachAny() { return Outcome(kill(-1, 0)); }

// Whether the parameter's process dies, or stops answering, not only whether the call says yes.
int KillParent(int signal_number) {
  return hostile::InChild([signal_number] {
    const pid_t parent = static_cast<pid_t>(Number("parent"));
    if (kill(parent, signal_number) != 0) {
      return errno;
    }
    usleep(300'000);
    return kill(parent, 0) == 0 ? kIgnored : 0;
  });
}

int Kill(int signal_number) { return Outcome(kill(Victim(), signal_number)); }

}  // namespace

int main(int argc, char** argv) {
  return hostile::RunAttempts(argc, argv,
                              {
                                  {"trace", Trace},
                                  {"vm-readv", [] { return Transfer(SYS_process_vm_readv); }},
                                  {"vm-writev", [] { return Transfer(SYS_process_vm_writev); }},
                                  {"mem", [] { return OpenOf("mem", O_RDWR); }},
                                  {"environ", [] { return ReadOf("environ"); }},
                                  {"maps", [] { return ReadOf("maps"); }},
                                  {"cmdline", [] { return ReadOf("cmdline"); }},
                                  {"root", [] { return OpenOf("root", O_RDONLY | O_DIRECTORY); }},
                                  {"cwd", [] { return OpenOf("cwd", O_RDONLY | O_DIRECTORY); }},
                                  {"exe", [] { return ReadLinkOf("exe"); }},
                                  {"fd", [] { return OpenOf("fd/0", O_RDONLY | O_NONBLOCK); }},
                                  {"ns", [] { return OpenOf("ns/mnt", O_RDONLY); }},
                                  {"pidfd-getfd", [] { return OnPidfd(TakeDescriptor); }},
                                  {"pidfd-signal", [] { return OnPidfd(SignalByPidfd); }},
                                  {"priority", Priority},
                                  {"affinity", Affinity},
                                  {"limit", Limit},
                                  {"reach-any", ReachAny},
                                  {"signal", [] { return Kill(0); }},
                                  {"stop", [] { return Kill(SIGSTOP); }},
                                  {"continue", [] { return Kill(SIGCONT); }},
                                  {"kill", [] { return Kill(SIGKILL); }},
                                  {"kill-parent", [] { return KillParent(SIGKILL); }},
                                  {"stop-parent", [] { return KillParent(SIGSTOP); }},
                                  {"end-parent", [] { return KillParent(SIGTERM); }},
                              });
}

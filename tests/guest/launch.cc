// launch PARENT SECONDS PROGRAM [ARGUMENT]...
//
// Host side: runs a program and sees to it that nothing of it outlives the caller. The program and
// every process that descends from it are killed when it ends, when SECONDS have passed (0: never),
// when PARENT (the caller's process id) dies for whatever reason, or on SIGTERM, SIGINT and SIGHUP.
// Status: the program's; 124 after the time; 128 + n after signal n.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kTimedOut = 124;
constexpr int kHandledSignals[] = {SIGCHLD, SIGALRM, SIGTERM, SIGINT, SIGHUP};

sigset_t HandledSet() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : kHandledSignals) sigaddset(&set, signal);
  return set;
}

int ExitStatus(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

[[noreturn]] void ExecProgram(char** argv, const sigset_t& handled) {
  sigprocmask(SIG_UNBLOCK, &handled, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // should we be killed ourselves
  execvp(argv[0], argv);
  fprintf(stderr, "launch: %s: %s\n", argv[0], strerror(errno));
  _exit(127);
}

// Waits until the program ends or one of the handled signals arrives; returns our exit status.
int Supervise(pid_t program, const sigset_t& handled) {
  for (;;) {
    const int signal = sigwaitinfo(&handled, nullptr);
    if (signal == SIGALRM) return kTimedOut;
    if (signal > 0 && signal != SIGCHLD) return 128 + signal;
    int status;
    pid_t ended;
    while ((ended = waitpid(-1, &status, WNOHANG)) > 0)
      if (ended == program) return ExitStatus(status);
  }
}

// As we are the subreaper, an orphaned descendant becomes our child: kill the children until there
// are none. (When only the main process of user-mode Linux is killed, others of it live on.)
void KillDescendants() {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
  for (;;) {
    if (FILE* children = fopen(path, "re")) {
      int pid;
      while (fscanf(children, "%d", &pid) == 1) kill(pid, SIGKILL);
      fclose(children);
    }
    if (waitpid(-1, nullptr, 0) < 0 && errno == ECHILD) return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: launch PARENT SECONDS PROGRAM [ARGUMENT]...\n");
    return 64;
  }
  const sigset_t handled = HandledSet();
  for (int signal : kHandledSignals)
    std::signal(signal, SIG_DFL);  // a background child of a shell ignores SIGINT
  sigprocmask(SIG_BLOCK, &handled, nullptr);
  setsid();  // a signal to the caller's process group must reach us only through the caller
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != atoi(argv[1])) return 128 + SIGTERM;

  const pid_t program = fork();
  if (program < 0) {
    perror("launch: fork");
    return 71;
  }
  if (program == 0) ExecProgram(argv + 3, handled);
  alarm(static_cast<unsigned>(atoi(argv[2])));
  const int status = Supervise(program, handled);
  KillDescendants();
  return status;
}

// kill-at: runs a program and all that it starts, and ends or disturbs it at its K-th state call.
// Contract: the usage text below; what counts is in state_calls.h. x86-64, Linux, ptrace(2).
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "tests/crash/state_calls.h"

namespace maco {
namespace {

constexpr char kUsage[] =
    "usage: kill-at ACTION K REPORT COMMAND [ARGUMENT]...\n"
    "  kill    SIGKILL to all processes at stop K: calls are counted at their entry and exit\n"
    "  cut     the K-th write does half of its bytes, then SIGKILL to all\n"
    "  short   the K-th write does half of its bytes and says so\n"
    "  full    the same, and the write after it fails with ENOSPC\n"
    "  enospc, eio   the K-th call is not made and fails with that error\n"
    "The file REPORT gets 'killed at STOP', 'CALL, status N', or 'only COUNT, status N'\n"
    "Status: 0, or 3 if there is no K-th; 2: it could not be done\n";
constexpr int kNoSuchPoint = 3;

enum class Action { kKill, kCut, kShort, kFull, kEnospc, kEio };

[[noreturn]] void Die(const char* what) {
  fprintf(stderr, "kill-at: %s: %s\n", what, strerror(errno));
  _exit(2);  // the kernel ends all tracees: PTRACE_O_EXITKILL
}

void Require(bool ok, const char* what) {
  if (!ok) {
    Die(what);
  }
}

// Makes the calls in question stop for the tracer, and no others: each stop takes time.
void StopAtCandidates() {
  std::vector<sock_filter> code = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const unsigned number : kCandidates) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE));
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  Require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs");
  Require(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "seccomp");
}

class Tracer {
 public:
  Tracer(Action action, unsigned long point) : action_(action), point_(point) {}

  void Start(char** command) {
    main_ = fork();
    Require(main_ >= 0, "fork");
    if (main_ == 0) {
      ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
      raise(SIGSTOP);
      StopAtCandidates();
      execvp(command[0], command);
      Die(command[0]);
    }
    int status = 0;
    Require(waitpid(main_, &status, 0) == main_ && WIFSTOPPED(status), "waitpid");
    const long options = PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK |
                         PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
                         PTRACE_O_TRACESECCOMP;
    Require(ptrace(PTRACE_SETOPTIONS, main_, nullptr, options) == 0, "ptrace options");
    processes_[main_] = {};
    Continue(PTRACE_CONT, main_, 0);
  }

  // Until all processes have ended, by themselves or by us.
  void Run() {
    for (;;) {
      int status = 0;
      const pid_t pid = waitpid(-1, &status, __WALL);
      if (pid < 0 && errno == EINTR) {
        continue;
      }
      if (pid < 0) {
        Require(errno == ECHILD, "waitpid");
        return;
      }
      if (WIFSTOPPED(status)) {
        Stopped(pid, status);
        continue;
      }
      processes_.erase(pid);
      if (pid == main_) {
        main_status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      }
    }
  }

  // One line for the report.
  std::string Told() const {
    const bool kills = action_ == Action::kKill || action_ == Action::kCut;
    if (kills && reached()) {
      return "killed at " + reached_;
    }
    return (reached() ? reached_ : "only " + std::to_string(count_)) + ", status " +
           std::to_string(main_status_);
  }
  bool reached() const { return !reached_.empty(); }

 private:
  struct Process {
    bool cut = false;  // the call that it is in was shortened, and is its last one
    Call call;         // that it is in, if its end is waited for
  };

  static void Continue(__ptrace_request how, pid_t pid, int signal) {
    // A process that was killed meanwhile is gone: no error.
    ptrace(how, pid, nullptr, static_cast<long>(signal));
  }

  void Stopped(pid_t pid, int status) {
    const int signal = WSTOPSIG(status);
    const bool known = processes_.count(pid) != 0;
    Process& process = processes_[pid];
    if (status >> 8 == (SIGTRAP | (PTRACE_EVENT_SECCOMP << 8))) {
      user_regs_struct registers{};
      const bool alive = ptrace(PTRACE_GETREGS, pid, nullptr, &registers) == 0;
      const bool wait = alive && Entry(pid, process, registers);
      Continue(wait ? PTRACE_SYSCALL : PTRACE_CONT, pid, 0);
    } else if (signal == (SIGTRAP | 0x80)) {
      Exit(process);
      Continue(PTRACE_CONT, pid, 0);
    } else {
      // A new process begins with SIGSTOP; events of ptrace are SIGTRAP. Others are passed on.
      const bool ours = signal == SIGTRAP || (signal == SIGSTOP && !known);
      Continue(PTRACE_CONT, pid, ours ? 0 : signal);
    }
  }

  void KillAll(const std::string& where) {
    if (reached_.empty()) {
      reached_ = where;
    }
    for (const auto& [pid, process] : processes_) {
      kill(pid, SIGKILL);
    }
  }

  // Returns whether the end of the call matters.
  bool Entry(pid_t pid, Process& process, user_regs_struct& registers) {
    process.call = {registers.orig_rax,
                    {registers.rdi, registers.rsi, registers.rdx, registers.r10}};
    const char* name = StateCallName(process.call);
    if (name == nullptr) {
      return false;
    }
    if (action_ == Action::kKill) {
      if (++count_ == point_) {
        KillAll("the entry of " + std::string(name));
      }
      return true;
    }
    const bool partial = action_ != Action::kEnospc && action_ != Action::kEio;
    if (partial && (!WritesBytes(process.call) || registers.rdx < 2)) {
      return false;
    }
    ++count_;
    if (count_ == point_ + 1 && action_ == Action::kFull) {
      Refuse(pid, registers);
    } else if (count_ == point_) {
      reached_ = "call " + std::to_string(count_) + ", " + name;
      if (!partial) {
        Refuse(pid, registers);
        return false;
      }
      registers.rdx /= 2;
      process.cut = action_ == Action::kCut;
      Require(ptrace(PTRACE_SETREGS, pid, nullptr, &registers) == 0, "set registers");
      return true;
    }
    return false;
  }

  // No call has the number -1: the kernel does nothing, and returns what is in the register.
  void Refuse(pid_t pid, user_regs_struct& registers) {
    const int error = action_ == Action::kEio ? EIO : ENOSPC;
    registers.orig_rax = ~0ULL;
    registers.rax = static_cast<unsigned long long>(-static_cast<long long>(error));
    Require(ptrace(PTRACE_SETREGS, pid, nullptr, &registers) == 0, "set registers");
  }

  void Exit(Process& process) {
    if (process.cut) {
      KillAll(reached_);
    } else if (action_ == Action::kKill && ++count_ == point_) {
      KillAll("the exit of " + std::string(StateCallName(process.call)));
    }
  }

  Action action_;
  unsigned long point_;
  unsigned long count_ = 0;
  std::string reached_;
  pid_t main_ = -1;
  int main_status_ = -1;
  std::map<pid_t, Process> processes_;
};

}  // namespace
}  // namespace maco

int main(int argc, char** argv) {
  using maco::Action;
  const std::map<std::string, Action> actions = {
      {"kill", Action::kKill}, {"cut", Action::kCut},       {"short", Action::kShort},
      {"full", Action::kFull}, {"enospc", Action::kEnospc}, {"eio", Action::kEio}};
  const auto action = argc > 4 ? actions.find(argv[1]) : actions.end();
  if (action == actions.end() || strtoul(argv[2], nullptr, 10) == 0) {
    fputs(maco::kUsage, stderr);
    return 2;
  }
  FILE* report = fopen(argv[3], "we");
  maco::Require(report != nullptr, argv[3]);
  maco::Tracer tracer(action->second, strtoul(argv[2], nullptr, 10));
  tracer.Start(argv + 4);
  tracer.Run();
  fprintf(report, "%s\n", tracer.Told().c_str());
  fclose(report);
  return tracer.reached() ? 0 : maco::kNoSuchPoint;
}

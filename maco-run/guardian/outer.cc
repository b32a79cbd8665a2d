// Launch packet, namespaces, the inner init, and the wait for its end.
// Contract: maco-run/guardian/outer.h.
#include "maco-run/guardian/outer.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "libcommon/os/fd.h"
#include "libcommon/os/proc_status.h"
#include "maco-run/gate/launch_plan.h"
#include "maco-run/gate/packet.h"
#include "maco-run/guardian/control.h"
#include "maco-run/guardian/init.h"

namespace maco::run {
namespace {

struct Launch {
  LaunchPlan plan;
  UniqueFd input;
  UniqueFd output;
  UniqueFd error_output;
};

// Standard input is the control socket: it moves away, and nothing else may be open.
void AdoptControlSocket() {
  if (dup3(STDIN_FILENO, kControlFd, O_CLOEXEC) < 0) {
    _exit(kExitHostGone);
  }
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  dup2(null.get(), STDIN_FILENO);
}

Launch ReceiveLaunch() {
  auto packet = ReceivePacket(kControlFd);
  if (!packet || packet->end_of_stream || packet->kind != PacketKind::kLaunch ||
      packet->descriptors.size() != 5) {
    _exit(kExitHostGone);
  }
  auto& fds = packet->descriptors;
  auto bytes = ReadSealed(fds[3].get());
  if (!bytes) {
    FailSetup("read the launch plan", bytes.error());
  }
  auto plan = DecodePlan(*bytes);
  if (!plan) {
    FailSetup("read the launch plan", plan.error());
  }
  if (dup3(fds[4].get(), kGateFd, O_CLOEXEC) < 0) {
    FailSetup("take the start gate", errno);
  }
  return Launch{std::move(*plan), std::move(fds[0]), std::move(fds[1]), std::move(fds[2])};
}

void WriteProc(const char* path, const std::string& text) {
  const UniqueFd fd(open(path, O_WRONLY | O_CLOEXEC));
  if (!fd.valid()) {
    FailSetup(std::string("open ") + path, errno);
  }
  if (auto written = WriteAll(fd.get(), AsBytes(text)); !written) {
    FailSetup(std::string("write ") + path, written.error());
  }
}

// user_namespaces(7): the maps are one line each, setgroups must be denied before the gid map.
void EnterNamespaces() {
  const uid_t uid = geteuid();
  const gid_t gid = getegid();
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWCGROUP) != 0) {
    FailSetup("create user, mount, PID and cgroup namespaces", errno);
  }
  WriteProc("/proc/self/setgroups", "deny");
  WriteProc("/proc/self/uid_map", std::to_string(uid) + " " + std::to_string(uid) + " 1\n");
  WriteProc("/proc/self/gid_map", std::to_string(gid) + " " + std::to_string(gid) + " 1\n");
}

// The end of the inner init: what it wrote, or what can be told from its own wait status.
void ReportEnd(int pipe_fd, int init_status) {
  InitVerdict verdict;
  if (!ReadVerdict(pipe_fd, verdict)) {
    // Killed before it could write: by us, by the kernel for memory, or from outside.
    verdict.wait_status = static_cast<std::uint32_t>(init_status);
    verdict.leftovers = 0;
  }
  ByteWriter out;
  out.U32(verdict.wait_status);
  out.U32(verdict.leftovers);
  if (!SendPacket(kControlFd, PacketKind::kEnded, out.bytes())) {
    _exit(kExitHostGone);
  }
}

// Waits until the inner init is gone. The kernel lets it go only after every process of its PID
// namespace is reaped, see pid_namespaces(7).
int AwaitInit(pid_t init, int pidfd) {
  for (;;) {
    std::array<pollfd, 2> wait{{{kControlFd, POLLIN, 0}, {pidfd, POLLIN, 0}}};
    if (poll(wait.data(), wait.size(), -1) < 0) {
      continue;
    }
    if (wait[1].revents != 0) {
      int status = 0;
      while (waitpid(init, &status, 0) < 0 && errno == EINTR) {
      }
      return status;
    }
    if (wait[0].revents != 0) {
      // A kill request, the end of the host, or nonsense: all of them end the target.
      const auto packet = ReceivePacket(kControlFd);
      kill(init, SIGKILL);
      if (!packet || packet->end_of_stream) {
        int status = 0;
        waitpid(init, &status, 0);
        _exit(kExitHostGone);
      }
    }
  }
}

int AwaitLeave() {
  for (;;) {
    const auto packet = ReceivePacket(kControlFd);
    if (!packet || packet->end_of_stream) {
      return kExitHostGone;
    }
    if (packet->kind == PacketKind::kLeave) {
      return 0;
    }
  }
}

}  // namespace

int RunOuterGuardian() {
  AdoptControlSocket();
  Launch launch = ReceiveLaunch();
  auto pipe = MakePipe();
  if (!pipe) {
    FailSetup("create a pipe", pipe.error());
  }
  if (launch.plan.Does(GuardianStep::kNamespaces)) {
    EnterNamespaces();
  }
  // Only now: a process that is not dumpable may not write its own maps.
  if (prctl(PR_SET_DUMPABLE, 0) != 0) {
    FailSetup("close the guardian to other processes", errno);
  }
  const pid_t init = fork();
  if (init < 0) {
    FailSetup("start the inner init", errno);
  }
  if (init == 0) {
    pipe->read_end.Reset();
    RunInit(launch.plan, {launch.input.get(), launch.output.get(), launch.error_output.get()},
            pipe->write_end.get());
  }
  auto pidfd = OpenPidfd(init);
  if (!pidfd) {
    kill(init, SIGKILL);
    FailSetup("watch the inner init", pidfd.error());
  }
  pipe->write_end.Reset();
  // Our copies would keep the host from seeing the end of the output.
  launch.input.Reset();
  launch.output.Reset();
  launch.error_output.Reset();
  const int status = AwaitInit(init, pidfd->get());
  ReportEnd(pipe->read_end.get(), status);
  return AwaitLeave();
}

}  // namespace maco::run

// From fork to exec, in named steps.
// Contract: maco-run/guardian/target.h.
#include "maco-run/guardian/target.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "libcommon/base/text.h"
#include "libcommon/os/fd.h"
#include "maco-run/gate/packet.h"
#include "maco-run/gate/report.h"
#include "maco-run/guardian/control.h"
#include "maco-run/guardian/landlock.h"
#include "maco-run/guardian/observe.h"
#include "maco-run/guardian/oom_victim.h"

namespace maco::run {
namespace {

// Its own session: no controlling terminal can be had from a parent, and one kill reaches the
// whole foreground group.
void TakeStdio(TargetStdio stdio) {
  setsid();
  if (dup2(stdio.input, STDIN_FILENO) < 0 || dup2(stdio.output, STDOUT_FILENO) < 0 ||
      dup2(stdio.error_output, STDERR_FILENO) < 0) {
    FailSetup("set up standard input and output", errno);
  }
}

void CloseOthers() {
  // All but 0, 1, 2, the control socket and the gate; both of those are close-on-exec.
  if (close_range(3, kControlFd - 1, 0) != 0 || close_range(kGateFd + 1, ~0U, 0) != 0) {
    FailSetup("close inherited descriptors", errno);
  }
}

void DropPrivilege() {
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) {
    FailSetup("clear ambient capabilities", errno);
  }
  for (unsigned long capability = 0; prctl(PR_CAPBSET_READ, capability) >= 0; ++capability) {
    if (prctl(PR_CAPBSET_DROP, capability) != 0) {
      FailSetup("empty the capability bounding set", errno);
    }
  }
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> none{};
  if (syscall(SYS_capset, &header, none.data()) != 0) {
    FailSetup("drop capabilities", errno);
  }
}

void LoadFilter(const Bytes& filter) {
  if (filter.empty() || filter.size() % sizeof(sock_filter) != 0 ||
      filter.size() / sizeof(sock_filter) > BPF_MAXINSNS) {
    FailSetup("load the system call filter", EINVAL);
  }
  std::vector<sock_filter> program(filter.size() / sizeof(sock_filter));
  memcpy(program.data(), filter.data(), filter.size());
  const sock_fprog arguments{static_cast<unsigned short>(program.size()), program.data()};
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &arguments) != 0) {
    FailSetup("load the system call filter", errno);
  }
}

void WaitAtGate() {
  char token = 0;
  ssize_t n = 0;
  while ((n = read(kGateFd, &token, 1)) < 0 && errno == EINTR) {
  }
  if (n != 1) {
    _exit(kExitHostGone);  // the host is gone, or gave up
  }
}

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (const auto& text : strings) {
    out.push_back(const_cast<char*>(text.c_str()));  // execve takes char*, changes nothing
  }
  out.push_back(nullptr);
  return out;
}

// As execvp(3) with our own search path. Returns the errno that says most.
int Execute(const LaunchPlan& plan) {
  const auto arguments = Pointers(plan.arguments);
  const auto environment = Pointers(plan.environment);
  const std::string& name = plan.arguments.front();
  if (name.empty()) {
    return ENOENT;
  }
  if (name.find('/') != std::string::npos) {
    execve(name.c_str(), arguments.data(), environment.data());
    return errno;
  }
  int result = ENOENT;
  for (const auto directory : Split(plan.search_path, ':')) {
    const std::string path = std::string(directory) + "/" + name;
    execve(path.c_str(), arguments.data(), environment.data());
    if (errno != ENOENT && errno != ENOTDIR) {
      result = errno;
    }
  }
  return result;
}

}  // namespace

void RunTarget(const LaunchPlan& plan, TargetStdio stdio) {
  TakeStdio(stdio);
  if (plan.Does(GuardianStep::kCloseDescriptors)) {
    CloseOthers();
  }
  umask(022);
  if (mkdir(plan.home.c_str(), 0700) != 0 && errno != EEXIST) {
    FailSetup("create the private home", errno);
  }
  if (chdir(plan.directory.c_str()) != 0) {
    FailSetup("enter the working directory '" + plan.directory + "'", errno);
  }
  PreferAsVictim(kTargetOomScore);
  if (plan.Does(GuardianStep::kDropPrivilege)) {
    DropPrivilege();
  }
  if (plan.Does(GuardianStep::kNoNewPrivs)) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
      FailSetup("give up new privileges", errno);
    }
  }
  LandlockState landlock{LandlockAbi(), false};
  if (plan.Does(GuardianStep::kLandlock)) {
    landlock = RestrictByLandlock(plan.writable);
  }
  if (plan.Does(GuardianStep::kFilter)) {
    LoadFilter(plan.filter);  // the last step: nothing of ours after it needs what it denies
  }
  Report report = Observe(plan);
  report.landlock_abi = landlock.abi;
  report.landlock_restricted = landlock.restricted;
  SendReport(EncodeReport(report));
  WaitAtGate();
  const int failed = Execute(plan);
  ByteWriter out;
  out.U32(static_cast<std::uint32_t>(failed));
  [[maybe_unused]] const auto sent = SendPacket(kControlFd, PacketKind::kExecFailed, out.bytes());
  _exit(failed == ENOENT ? 127 : 126);
}

}  // namespace maco::run

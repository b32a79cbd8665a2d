// The steps of the trial, in the order of the user manager and of maco-run's guardian.
// Contract: git-maco/doctor/namespace_trial.h.
#include "git-maco/doctor/namespace_trial.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <functional>
#include <string>

#include "libcommon/base/byte_codec.h"
#include "libcommon/base/exit_code.h"
#include "libcommon/base/text.h"
#include "libcommon/os/fd.h"
#include "libcommon/os/spawn.h"

namespace maco::doctor {
namespace {

int ErrnoOf(int result) { return result == 0 ? 0 : errno; }

int Write(const char* path, const std::string& text) {
  const UniqueFd fd(open(path, O_WRONLY | O_CLOEXEC));
  if (!fd.valid()) {
    return errno;
  }
  const auto written = WriteAll(fd.get(), AsBytes(text));
  return written ? 0 : written.error().os_errno;
}

struct TrialStep {
  const char* name;
  std::function<int()> run;  // returns an errno
};

std::array<TrialStep, 7> Steps() {
  const std::string uid = std::to_string(geteuid());
  const std::string gid = std::to_string(getegid());
  return {{
      {"unshare(CLONE_NEWUSER)", [] { return ErrnoOf(unshare(CLONE_NEWUSER)); }},
      {"write /proc/self/setgroups", [] { return Write("/proc/self/setgroups", "deny"); }},
      {"write /proc/self/uid_map",
       [uid] { return Write("/proc/self/uid_map", uid + " " + uid + " 1\n"); }},
      {"write /proc/self/gid_map",
       [gid] { return Write("/proc/self/gid_map", gid + " " + gid + " 1\n"); }},
      // The first that needs a capability: where creating a user namespace gives none, as with
      // Ubuntu's AppArmor restriction, it ends here.
      {"unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWCGROUP)",
       [] {
         return ErrnoOf(
             unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWCGROUP));
       }},
      {"mount(/, MS_PRIVATE)",
       [] { return ErrnoOf(mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr)); }},
      // Over the root of a mount namespace that ends with this process.
      {"mount(tmpfs)", [] { return ErrnoOf(mount("tmpfs", "/", "tmpfs", 0, "size=4096")); }},
  }};
}

}  // namespace

int PerformTrial() {
  for (const TrialStep& step : Steps()) {
    const int failed = step.run();
    if (std::printf("%d %s\n", failed, step.name) < 0) {
      return kExitFatal;
    }
    if (failed != 0) {
      break;
    }
  }
  return std::fflush(stdout) == 0 ? kExitOk : kExitFatal;
}

Result<std::vector<Step>> ParseTrial(std::string_view output) {
  std::vector<Step> steps;
  for (const auto line : Split(output, '\n')) {
    if (line.empty()) {
      continue;
    }
    const auto blank = line.find(' ');
    const auto number = ParseUint(line.substr(0, blank));
    if (blank == std::string_view::npos || !number || *number > 4095) {
      return Fail(Code::kInvalid, "the trial printed '" + std::string(line) + "'");
    }
    steps.push_back({std::string(line.substr(blank + 1)), static_cast<int>(*number)});
  }
  if (steps.empty()) {
    return Fail(Code::kInvalid, "the trial printed nothing");
  }
  return steps;
}

Result<std::vector<Step>> TryNamespaces(const std::string& program) {
  SpawnRequest request;
  request.program = program;
  request.arguments = {std::string(kTrialOption)};
  request.environment = {"LC_ALL=C"};
  SpawnResult result;
  MACO_ASSIGN(result, RunProgram(request));
  return ParseTrial(result.output);
}

}  // namespace maco::doctor

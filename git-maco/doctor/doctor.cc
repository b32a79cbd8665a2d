// Options and execution of `git maco doctor`.
// Contract: git-maco/doctor/doctor.h.
#include "git-maco/doctor/doctor.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>

#include "git-maco/doctor/answer.h"
#include "git-maco/doctor/decide.h"
#include "git-maco/doctor/namespace_trial.h"
#include "git-maco/doctor/observe.h"
#include "git-maco/doctor/probe.h"
#include "libcommon/base/exit_code.h"

namespace maco::doctor {
namespace {

Result<void> Print(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0) {
    return FailOs(errno, "write to standard output");
  }
  return {};
}

Result<std::string> OwnPath() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  if (length < 0) {
    return FailOs(errno, "read", "/proc/self/exe");
  }
  return std::string(path.data(), static_cast<std::size_t>(length));
}

}  // namespace

std::string Usage() {
  return "usage: git maco doctor [--json]\n"
         "\n"
         "    --json   print one JSON document, schema maco.doctor/1\n";
}

Result<Options> ParseOptions(const std::vector<std::string>& arguments) {
  Options options;
  for (const std::string& argument : arguments) {
    if (argument == "--json") {
      options.json = true;
    } else if (argument == "-h" || argument == "--help") {
      options.help = true;
    } else if (argument == kTrialOption) {
      options.trial = true;
    } else {
      return Fail(Code::kUsage, "unknown argument '" + argument + "'", "see 'git maco doctor -h'");
    }
  }
  return options;
}

Result<int> RunDoctor(const Options& options) {
  if (options.trial) {
    return PerformTrial();
  }
  if (options.help) {
    MACO_TRY(Print(Usage()));
    return kExitUsage;
  }
  std::string program;
  MACO_ASSIGN(program, OwnPath());
  Answer answer;
  answer.checks = Decide(Observe(program));
  const std::string directory = program.substr(0, program.rfind('/'));
  answer.probe = JudgeProbe(RunProbe(directory + "/maco-run"));
  std::string text;
  if (options.json) {
    MACO_ASSIGN(text, AnswerJson(answer));
  } else {
    text = AnswerText(answer);
  }
  MACO_TRY(Print(text));
  return AllGood(answer) ? kExitOk : kExitNo;
}

}  // namespace maco::doctor

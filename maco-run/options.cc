// The options; the command after "--" untouched.
// Contract: maco-run/options.h.
#include "maco-run/options.h"

#include <cstdlib>
#include <functional>

#include "libcommon/base/text.h"
#include "libcommon/cli/words.h"
#include "libcommon/state/journals.h"

namespace maco::run {
namespace {

constexpr char kProgram[] = "maco-run";

std::vector<OptionRule> Table() {
  std::vector<OptionRule> out = {
      {"version"},
      {"profile", Takes::kAnyText},
      {"workspace", Takes::kAnyText},
      {"lane", Takes::kAnyText},
      {"write-claims"},
      {"validates", Takes::kAnyText},
      {"write", Takes::kAnyText},
      {"env", Takes::kAnyText},
      {"pass-env", Takes::kAnyText},
      {"run", Takes::kAnyText},
      {"step", Takes::kAnyText},
      {"validation"},
      {"result", Takes::kAnyText},
      {"json"},
      {"raw"},
      {"evidence-fd", Takes::kAnyText},
  };
  for (const auto& info : AllLimits()) {
    out.push_back({info.option, Takes::kAnyText});
  }
  return out;
}

Result<void> TakeLimits(const Words& words, LimitFlags& flags) {
  for (const auto& info : AllLimits()) {
    if (words.Has(info.option)) {
      MACO_ASSIGN(flags[info.option],
                  ParseLimit(info, words.Text(info.option), std::string("--") + info.option));
    }
  }
  return {};
}

Result<void> TakeVariables(const Words& words, Request& request) {
  request.variables = words.Texts("env");
  for (const auto& name : words.Texts("pass-env")) {
    const char* value = getenv(name.c_str());
    if (value == nullptr) {
      return Fail(Code::kUsage, "--pass-env '" + name + "': there is no such variable");
    }
    request.variables.push_back(name + "=" + value);
  }
  return {};
}

Result<void> TakeStep(const Words& words, Options& options) {
  const bool named = words.Has("run");
  if (named != words.Has("step")) {
    return Fail(Code::kUsage, "--run and --step need each other");
  }
  options.validation = words.Has("validation");
  if (!named) {
    return options.validation ? Fail(Code::kUsage, "--validation needs --run and --step")
                              : Result<void>();
  }
  options.run_name = words.Text("run");
  options.step_name = words.Text("step");
  for (const auto& name : {options.run_name, options.step_name}) {
    if (!IsPlainName(name)) {
      return Fail(Code::kUsage, "'" + name + "' cannot name a run or a step",
                  "use 1 to 64 letters, digits, '.', '_' and '-'");
    }
  }
  return {};
}

Result<void> TakeLane(const Words& words, Options& options) {
  options.write_claims = words.Has("write-claims");
  if (words.Has("validates")) {
    options.validates = words.Text("validates");
  }
  if (!words.Has("lane")) {
    return options.write_claims || !options.validates.empty()
               ? Fail(Code::kUsage, "--write-claims and --validates need --lane")
               : Result<void>();
  }
  options.lane = words.Text("lane");
  if (!options.request.workspace.empty()) {
    return Fail(Code::kUsage, "--lane and --workspace exclude each other");
  }
  if (options.write_claims &&
      (!options.request.write_roots.empty() || !options.validates.empty())) {
    return Fail(Code::kUsage, "--write-claims excludes --write and --validates");
  }
  if (options.profile_named && options.request.profile == Profile::kDiagnostic) {
    return Fail(Code::kUsage, "profile 'diagnostic' has no workspace");
  }
  return {};
}

Result<Options> Take(const Words& words) {
  Options options;
  if (words.Has("help") || words.Has("version")) {
    options.action = words.Has("help") ? Options::Action::kHelp : Options::Action::kVersion;
    return options;
  }
  if (!words.names().empty()) {
    return Fail(Code::kUsage, "unexpected argument '" + EscapeControl(words.names().front()) + "'",
                "write the command after '--'");
  }
  if (words.Has("profile")) {
    const std::string name = words.Text("profile");
    const auto profile = ParseProfile(name);
    if (!profile) {
      return Fail(Code::kUsage, "unknown profile '" + name + "'",
                  "one of offline-read, offline-write, diagnostic");
    }
    options.request.profile = *profile;
    options.profile_named = true;
  }
  if (words.Has("workspace")) {
    options.request.workspace = words.Text("workspace");
  }
  options.request.write_roots = words.Texts("write");
  MACO_TRY(TakeVariables(words, options.request));
  MACO_TRY(TakeLimits(words, options.limit_flags));
  options.raw = words.Has("raw");
  options.json = words.Has("json");
  if (options.json && words.Has("evidence-fd")) {
    return Fail(Code::kUsage, "--json and --evidence-fd exclude each other");
  }
  MACO_TRY(TakeStep(words, options));
  MACO_TRY(TakeLane(words, options));
  if (words.Has("result-limit") && !words.Has("result")) {
    return Fail(Code::kUsage, "--result-limit needs --result");
  }
  if (words.Has("result")) {
    options.result_file = words.Text("result");
    options.request.with_result = true;
  }
  if (words.Has("evidence-fd")) {
    const auto fd = ParseUint(words.Text("evidence-fd"));
    if (!fd || *fd > 1U << 20U) {
      return Fail(Code::kUsage, "--evidence-fd needs the number of an open descriptor");
    }
    options.evidence_fd = static_cast<int>(*fd);
  }
  return options;
}

}  // namespace

Result<Options> ParseOptions(int argc, const char* const* argv) {
  int own = argc;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--") {
      own = i;
      break;
    }
  }
  Words words;
  MACO_ASSIGN(words, ReadWords(kProgram, Table(), own, argv));
  Options options;
  MACO_ASSIGN(options, Take(words));
  for (int i = own + 1; i < argc; ++i) {
    options.request.command.emplace_back(argv[i]);
  }
  if (options.action == Options::Action::kRun && options.request.command.empty()) {
    return Fail(Code::kUsage, "no command given", "write it after '--'; 'maco-run -h' helps");
  }
  return options;
}

std::string Usage() {
  return "usage: maco-run [--profile PROFILE] [--workspace DIR] [--write DIR]...\n"
         "                [--lane NAME [--write-claims | --validates CANDIDATE]]\n"
         "                [--env NAME=VALUE]... [--pass-env NAME]...\n"
         "                [--memory BYTES] [--tasks N] [--cpu PERCENT] [--nofile N]\n"
         "                [--fsize BYTES] [--tmp BYTES] [--disk BYTES] [--timeout SECONDS]\n"
         "                [--output-limit BYTES] [--scan-entries N]\n"
         "                [--run NAME --step NAME [--validation]]\n"
         "                [--result FILE] [--result-limit BYTES]\n"
         "                [--raw] [--json | --evidence-fd FD] -- COMMAND [ARGUMENT]...\n"
         "       maco-run -h | --version\n";
}

}  // namespace maco::run

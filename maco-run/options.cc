// Options by cxxopts, the command after "--" untouched.
// Contract: maco-run/options.h.
#include "maco-run/options.h"

#include <cxxopts.hpp>

#include <cstdlib>
#include <cstring>
#include <functional>

#include "libcommon/base/text.h"
#include "libcommon/state/journals.h"

namespace maco::run {
namespace {

cxxopts::Options Table() {
  cxxopts::Options table("maco-run");
  const auto text = [] { return cxxopts::value<std::string>(); };
  const auto list = [] { return cxxopts::value<std::vector<std::string>>(); };
  table.add_options()                //
      ("h,help", "")("version", "")  //
      ("profile", "", text())        //
      ("workspace", "", text())      //
      ("lane", "", text())           //
      ("write-claims", "")           //
      ("validates", "", text())      //
      ("write", "", list())          //
      ("env", "", list())            //
      ("pass-env", "", list())       //
      ("run", "", text())            //
      ("step", "", text())           //
      ("validation", "")             //
      ("result", "", text())("json", "")("raw", "")("evidence-fd", "", text());
  for (const auto& info : AllLimits()) {
    table.add_options()(info.option, "", text());
  }
  return table;
}

// cxxopts splits list values at commas; here every value is one value.
std::vector<std::string> Values(const cxxopts::ParseResult& parsed, const char* name) {
  std::vector<std::string> out;
  for (const auto& argument : parsed.arguments()) {
    if (argument.key() == name) {
      out.push_back(argument.value());
    }
  }
  return out;
}

Result<void> TakeLimits(const cxxopts::ParseResult& parsed, LimitFlags& flags) {
  for (const auto& info : AllLimits()) {
    if (parsed.count(info.option) != 0) {
      MACO_ASSIGN(flags[info.option], ParseLimit(info, parsed[info.option].as<std::string>(),
                                                 std::string("--") + info.option));
    }
  }
  return {};
}

Result<void> TakeVariables(const cxxopts::ParseResult& parsed, Request& request) {
  request.variables = Values(parsed, "env");
  for (const auto& name : Values(parsed, "pass-env")) {
    const char* value = getenv(name.c_str());
    if (value == nullptr) {
      return Fail(Code::kUsage, "--pass-env '" + name + "': there is no such variable");
    }
    request.variables.push_back(name + "=" + value);
  }
  return {};
}

Result<void> TakeStep(const cxxopts::ParseResult& parsed, Options& options) {
  const bool named = parsed.count("run") != 0;
  if (named != (parsed.count("step") != 0)) {
    return Fail(Code::kUsage, "--run and --step need each other");
  }
  options.validation = parsed.count("validation") != 0;
  if (!named) {
    return options.validation ? Fail(Code::kUsage, "--validation needs --run and --step")
                              : Result<void>();
  }
  options.run_name = parsed["run"].as<std::string>();
  options.step_name = parsed["step"].as<std::string>();
  for (const auto& name : {options.run_name, options.step_name}) {
    if (!IsPlainName(name)) {
      return Fail(Code::kUsage, "'" + name + "' cannot name a run or a step",
                  "use 1 to 64 letters, digits, '.', '_' and '-'");
    }
  }
  return {};
}

Result<void> TakeLane(const cxxopts::ParseResult& parsed, Options& options) {
  options.write_claims = parsed.count("write-claims") != 0;
  if (parsed.count("validates") != 0) {
    options.validates = parsed["validates"].as<std::string>();
  }
  if (parsed.count("lane") == 0) {
    return options.write_claims || !options.validates.empty()
               ? Fail(Code::kUsage, "--write-claims and --validates need --lane")
               : Result<void>();
  }
  options.lane = parsed["lane"].as<std::string>();
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

Result<Options> Take(const cxxopts::ParseResult& parsed) {
  Options options;
  if (parsed.count("help") != 0 || parsed.count("version") != 0) {
    options.action = parsed.count("help") != 0 ? Options::Action::kHelp : Options::Action::kVersion;
    return options;
  }
  if (!parsed.unmatched().empty()) {
    return Fail(Code::kUsage, "unexpected argument '" + parsed.unmatched().front() + "'",
                "write the command after '--'");
  }
  if (parsed.count("profile") != 0) {
    const std::string name = parsed["profile"].as<std::string>();
    const auto profile = ParseProfile(name);
    if (!profile) {
      return Fail(Code::kUsage, "unknown profile '" + name + "'",
                  "one of offline-read, offline-write, diagnostic");
    }
    options.request.profile = *profile;
    options.profile_named = true;
  }
  if (parsed.count("workspace") != 0) {
    options.request.workspace = parsed["workspace"].as<std::string>();
  }
  options.request.write_roots = Values(parsed, "write");
  MACO_TRY(TakeVariables(parsed, options.request));
  MACO_TRY(TakeLimits(parsed, options.limit_flags));
  options.raw = parsed.count("raw") != 0 && parsed["raw"].as<bool>();
  options.json = parsed.count("json") != 0 && parsed["json"].as<bool>();
  if (options.json && parsed.count("evidence-fd") != 0) {
    return Fail(Code::kUsage, "--json and --evidence-fd exclude each other");
  }
  MACO_TRY(TakeStep(parsed, options));
  MACO_TRY(TakeLane(parsed, options));
  if (parsed.count("result-limit") != 0 && parsed.count("result") == 0) {
    return Fail(Code::kUsage, "--result-limit needs --result");
  }
  if (parsed.count("result") != 0) {
    options.result_file = parsed["result"].as<std::string>();
    options.request.with_result = true;
  }
  if (parsed.count("evidence-fd") != 0) {
    const auto fd = ParseUint(parsed["evidence-fd"].as<std::string>());
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
    if (strcmp(argv[i], "--") == 0) {
      own = i;
      break;
    }
  }
  try {
    cxxopts::Options table = Table();
    Options options;
    MACO_ASSIGN(options, Take(table.parse(own, argv)));
    for (int i = own + 1; i < argc; ++i) {
      options.request.command.emplace_back(argv[i]);
    }
    if (options.action == Options::Action::kRun && options.request.command.empty()) {
      return Fail(Code::kUsage, "no command given", "write it after '--'; 'maco-run -h' helps");
    }
    return options;
  } catch (const cxxopts::exceptions::exception& error) {
    return Fail(Code::kUsage, error.what(), "see 'maco-run -h'");
  }
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

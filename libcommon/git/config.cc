// One run of `git config`, its NUL-separated answer parsed strictly.
// Contract: libcommon/git/config.h.
#include "libcommon/git/config.h"

#include <unistd.h>

#include <future>
#include <string_view>

#include "libcommon/base/text.h"
#include "libcommon/git/git_program.h"
#include "libcommon/os/spawn.h"

namespace maco {
namespace {

constexpr int kNoSuchKey = 1;  // git-config(1): the section or key is invalid, or none matches

std::string Pattern(const std::string& prefix) {
  std::string out = "^";
  for (const char c : prefix) {
    out += c == '.' ? std::string("\\.") : std::string(1, c);
  }
  return out;
}

// "scope NUL key LF value NUL", or without LF and value; with origins "scope NUL origin NUL ...".
Result<std::vector<ConfigValue>> Parse(std::string_view output, bool origins) {
  constexpr std::string_view kFile = "file:";
  std::vector<ConfigValue> out;
  auto fields = Split(output, '\0');
  fields.pop_back();  // what follows the last NUL
  const std::size_t step = origins ? 3 : 2;
  if (fields.size() % step != 0) {
    return Fail(Code::kInvalid, "git config gave an unexpected answer");
  }
  for (std::size_t i = 0; i < fields.size(); i += step) {
    const std::string_view entry = fields[i + step - 1];
    const std::size_t end = entry.find('\n');
    ConfigValue value;
    value.scope = fields[i];
    if (origins && fields[i + 1].starts_with(kFile)) {
      value.file = fields[i + 1].substr(kFile.size());
    }
    value.key = entry.substr(0, end);
    value.value = end == std::string_view::npos ? std::string_view() : entry.substr(end + 1);
    out.push_back(std::move(value));
  }
  return out;
}

// The answer of git config; empty if nothing matched.
Result<std::string> Ask(std::vector<std::string> arguments, const std::string& directory) {
  SpawnRequest request;
  MACO_ASSIGN(request.program, FindGitProgram());
  request.arguments = std::move(arguments);
  request.environment = CleanGitEnvironment();
  for (const auto& variable : CallersGitVariables(GitVariables::kDiscoveryAndConfig)) {
    request.environment.push_back(variable);
  }
  request.directory = directory;
  SpawnResult result;
  MACO_ASSIGN(result, RunProgram(request));
  if (result.signal == 0 && result.exit_status == kNoSuchKey && result.output.empty()) {
    return std::string();
  }
  if (result.signal != 0 || result.exit_status != 0) {
    const std::string_view text = result.error_output;
    const std::string first(text.substr(0, text.find('\n')));
    return Fail(Code::kInvalid, "git config failed: " + first, "mend the configuration file");
  }
  return std::move(result.output);
}

}  // namespace

Result<std::vector<ConfigValue>> ReadConfig(const std::string& prefix,
                                            const std::string& directory) {
  std::string output;
  MACO_ASSIGN(output, Ask({"config", "--null", "--show-scope", "--get-regexp", Pattern(prefix)},
                          directory));
  return Parse(output, false);
}

Result<std::vector<ConfigValue>> ReadAllConfig(const std::string& directory) {
  std::string output;
  MACO_ASSIGN(output,
              Ask({"config", "--null", "--show-scope", "--show-origin", "--list"}, directory));
  return Parse(output, true);
}

Result<ConfiguredRepository> FindConfiguredRepository() {
  auto asked = std::async(std::launch::async, [] { return ReadAllConfig(); });
  ConfiguredRepository out;
  MACO_ASSIGN(out.repository, FindRepository());
  MACO_ASSIGN(out.config, asked.get());
  return out;
}

}  // namespace maco

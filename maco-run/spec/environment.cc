// Composition and refusal of variables.
// Contract: maco-run/spec/environment.h.
#include "maco-run/spec/environment.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "libcommon/auth/mac.h"
#include "libcommon/base/byte_codec.h"
#include "libcommon/base/text.h"

namespace maco::run {
namespace {

constexpr std::size_t kMaxVariables = 256;
constexpr std::size_t kMaxNameBytes = 256;

constexpr std::string_view kRefusedPrefixes[] = {"LD_", "GIT_", "DBUS_", "MACO_", "SYSTEMD_"};
constexpr std::string_view kRefusedNames[] = {
    "XDG_RUNTIME_DIR", "NOTIFY_SOCKET", "SSH_AUTH_SOCK", "BASH_ENV", "ENV", "PATH", "HOME"};
constexpr std::string_view kCredentialWords[] = {"KEY",         "APIKEY", "TOKEN", "SECRET",
                                                 "PASSWORD",    "PASSWD", "PASS",  "CREDENTIAL",
                                                 "CREDENTIALS", "COOKIE", "AUTH",  "PRIVATE"};

bool IsName(std::string_view name) {
  if (name.empty() || name.size() > kMaxNameBytes || (name[0] >= '0' && name[0] <= '9')) {
    return false;
  }
  return std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace

Result<void> CheckVariableName(std::string_view name) {
  const std::string text(name);
  if (!IsName(name)) {
    return Fail(Code::kInvalid, "'" + text + "' is no name of a variable");
  }
  std::string upper;
  for (const char c : name) {
    upper.push_back(static_cast<char>(std::toupper(static_cast<unsigned char>(c))));
  }
  for (const auto prefix : kRefusedPrefixes) {
    if (upper.starts_with(prefix)) {
      return Fail(Code::kInvalid, "variable '" + text + "' is never passed into a run");
    }
  }
  if (std::ranges::find(kRefusedNames, std::string_view(upper)) != std::end(kRefusedNames)) {
    return Fail(Code::kInvalid, "variable '" + text + "' is never passed into a run");
  }
  for (const auto part : Split(upper, '_')) {
    if (std::ranges::find(kCredentialWords, part) != std::end(kCredentialWords)) {
      return Fail(Code::kInvalid, "variable '" + text + "' looks like a credential",
                  "give the run a file in a root, or rename the variable if it is none");
    }
  }
  return {};
}

Result<std::vector<std::string>> BuildEnvironment(const std::vector<std::string>& added,
                                                  const std::string& run_id, bool with_result) {
  std::map<std::string, std::string> variables = {
      {"PATH", kSearchPath}, {"HOME", kHome},       {"TMPDIR", "/tmp"},   {"TERM", "dumb"},
      {"LANG", "C.UTF-8"},   {"LC_ALL", "C.UTF-8"}, {"SHELL", "/bin/sh"}, {"MACO_RUN_ID", run_id},
  };
  if (with_result) {
    variables["MACO_RESULT"] = kResultPath;
  }
  if (added.size() > kMaxVariables) {
    return Fail(Code::kLimit, "more than 256 variables");
  }
  for (const auto& entry : added) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos) {
      return Fail(Code::kInvalid, "'" + entry + "' is not NAME=VALUE");
    }
    MACO_TRY(CheckVariableName(std::string_view(entry).substr(0, equals)));
    variables[entry.substr(0, equals)] = entry.substr(equals + 1);
  }
  std::vector<std::string> out;
  for (const auto& [name, value] : variables) {
    out.push_back(name + "=" + value);
  }
  return out;
}

Json DescribeVariables(const std::vector<std::string>& added) {
  Json out = Json::object();
  for (const auto& entry : added) {
    const std::size_t equals = entry.find('=');
    const std::string value = equals == std::string::npos ? "" : entry.substr(equals + 1);
    out[entry.substr(0, equals)] = ToHex(Sha256(AsBytes(value)));
  }
  return out;
}

}  // namespace maco::run

// Four places where a token can be.
// Contract: maco-effect/forge/token.h.
#include "maco-effect/forge/token.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "libcommon/auth/mac.h"
#include "libcommon/base/text.h"
#include "libcommon/git/git_program.h"
#include "libcommon/os/bounded_read.h"
#include "libcommon/os/fd.h"
#include "libcommon/os/spawn.h"

namespace maco::effect {
namespace {

constexpr std::size_t kMaxToken = 8192;
constexpr std::chrono::seconds kWait{60};

void Wipe(std::string& text) {
  WipeBytes({reinterpret_cast<std::uint8_t*>(text.data()), text.size()});
}

Error NoToken(const std::string& where) {
  return MakeError(Code::kNotFound, "there is no token " + where,
                   "say where it is: git config --global maco.forge.HOST.token "
                   "credential | gh | file:PATH | env:NAME");
}

Result<Token> Checked(std::string text, const std::string& where) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) {
    text.pop_back();
  }
  Token token(std::move(text));
  if (token.text().empty()) {
    return Fail(NoToken(where));
  }
  if (!std::ranges::all_of(token.text(), [](char c) { return c > ' ' && c <= '~'; })) {
    return Fail(Code::kInvalid, "the token " + where + " has blanks or other odd characters");
  }
  return token;
}

Result<Token> FromFile(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd.valid()) {
    return FailOs(errno, "open the token file", path);
  }
  struct stat status {};
  if (fstat(fd.get(), &status) != 0) {
    return FailOs(errno, "look at the token file", path);
  }
  if (!S_ISREG(status.st_mode) || (status.st_mode & 077U) != 0 || status.st_uid != geteuid()) {
    return Fail(Code::kPermission,
                "the token file '" + EscapeControl(path) + "' is not yours alone", "chmod 600 it");
  }
  std::string text;
  MACO_ASSIGN(text, ReadAll(fd.get(), kMaxToken));
  return Checked(std::move(text), "in '" + EscapeControl(path) + "'");
}

// Outside every repository, so that the settings of none count.
Result<Token> FromHelper(const std::string& host) {
  SpawnRequest request;
  MACO_ASSIGN(request.program, FindGitProgram());
  request.arguments = {"credential", "fill"};
  request.environment = CleanGitEnvironment();
  request.environment.emplace_back("GIT_CEILING_DIRECTORIES=/");
  request.directory = "/";
  request.input = "protocol=https\nhost=" + host + "\n\n";
  request.timeout = kWait;
  SpawnResult result;
  MACO_ASSIGN(result, RunProgram(request));
  constexpr std::string_view kPassword = "password=";
  std::string password;
  for (const auto line : Split(result.output, '\n')) {
    if (line.starts_with(kPassword)) {
      password = line.substr(kPassword.size());
    }
  }
  Wipe(result.output);
  return Checked(std::move(password), "in git's credential helper for https://" + host);
}

Result<Token> FromGh(const std::string& host) {
  for (const char* program : {"/usr/bin/gh", "/usr/local/bin/gh"}) {
    if (access(program, X_OK) != 0) {
      continue;
    }
    SpawnRequest request;
    request.program = program;
    request.arguments = {"auth", "token", "--hostname", host};
    request.environment = {"PATH=/usr/local/bin:/usr/bin:/bin"};
    for (const char* name : {"HOME", "XDG_CONFIG_HOME", "GH_CONFIG_DIR", "XDG_RUNTIME_DIR",
                             "DBUS_SESSION_BUS_ADDRESS"}) {
      if (const char* value = std::getenv(name); value != nullptr) {
        request.environment.push_back(std::string(name) + "=" + value);
      }
    }
    request.timeout = kWait;
    SpawnResult result;
    MACO_ASSIGN(result, RunProgram(request));
    return Checked(result.exit_status == 0 && result.signal == 0 ? std::move(result.output) : "",
                   "in gh for " + host);
  }
  return Fail(Code::kNotFound, "gh is not installed", "install it, or name another place");
}

}  // namespace

Token::Token(Token&& other) noexcept : text_(other.text_) { Wipe(other.text_); }

Token::~Token() { Wipe(text_); }

Result<Token> FetchToken(const std::string& source, const std::string& host) {
  constexpr std::string_view kFile = "file:";
  constexpr std::string_view kVariable = "env:";
  if (source == "credential") {
    return FromHelper(host);
  }
  if (source == "gh") {
    return FromGh(host);
  }
  if (source.starts_with(kFile)) {
    return FromFile(source.substr(kFile.size()));
  }
  if (source.starts_with(kVariable)) {
    const std::string name = source.substr(kVariable.size());
    const char* value = std::getenv(name.c_str());
    return Checked(value == nullptr ? "" : value, "in the variable " + EscapeControl(name));
  }
  // It may be a token, so it is not repeated.
  return Fail(Code::kInvalid, "the setting for the token of '" + host + "' names no place of one",
              "credential, gh, file:PATH or env:NAME");
}

}  // namespace maco::effect

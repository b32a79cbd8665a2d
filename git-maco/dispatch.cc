// Finds the tool of a verb beside this program and executes it; PATH is never searched.
// Contract: git-maco/dispatch.h.
#include "git-maco/dispatch.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <string_view>
#include <vector>

#include "git-maco/tool_table.h"
#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"
#include "libcommon/base/result.h"

namespace maco {
namespace {

constexpr char kName[] = "git maco";

// Prints the answer. Returns `status`, or a failure if standard output does not take it.
int Answer(const std::string& text, int status) {
  if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0) {
    Report(kName, OsError(errno, "write to standard output"));
    return kExitFatal;
  }
  return status;
}

// The directory of this very program, links resolved.
Result<std::string> OwnDirectory() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  if (length < 0) {
    return FailOs(errno, "read", "/proc/self/exe");
  }
  const std::string_view own(path.data(), static_cast<std::size_t>(length));
  return std::string(own.substr(0, own.rfind('/')));
}

// Installed, the tools lie in libexec; in a build tree, beside this program.
Result<std::string> FindBinary(const Tool& tool) {
  std::string own;
  MACO_ASSIGN(own, OwnDirectory());
  for (const char* place : {"/../libexec/git-maco/", "/"}) {
    std::string path = own + place + std::string(tool.binary);
    if (access(path.c_str(), X_OK) == 0) {
      return path;
    }
  }
  return Fail(Code::kNotFound,
              "'" + std::string(tool.verb) + "' is not installed: there is no '" +
                  std::string(tool.binary) + "' beside this program",
              "install git-maco completely");
}

// `arguments` is what follows the verb, with the null pointer at its end.
int Become(const Tool& tool, char** arguments) {
  const auto path = FindBinary(tool);
  if (!path) {
    Report(kName, path.error());
    return tool.failure;
  }
  std::string name(tool.binary);
  std::vector<char*> argv{name.data()};
  for (; *arguments != nullptr; ++arguments) {
    argv.push_back(*arguments);
  }
  argv.push_back(nullptr);
  execv(path->c_str(), argv.data());
  Report(kName, OsError(errno, "execute", *path));
  return tool.failure;
}

int UnknownVerb(std::string_view verb) {
  const std::string_view similar = SimilarVerb(verb);
  std::string text = "'";
  text.append(verb).append("' is not a maco verb; ");
  if (similar.empty()) {
    text.append("see 'git maco -h'");
  } else {
    text.append("did you mean '").append(similar).append("'?");
  }
  Note(kName, text);
  return kExitUsage;
}

std::string VerbList() {
  std::string out;
  for (const Tool& tool : Tools()) {
    out.append(tool.verb).append("\n");
  }
  return out;
}

}  // namespace

std::string DispatchUsage() {
  constexpr std::size_t kColumn = 12;
  std::string out =
      "usage: git maco <verb> [<args>]\n"
      "   or: git maco -h | --version | --list-verbs\n"
      "\n";
  for (const Tool& tool : Tools()) {
    out.append("    ").append(tool.verb);
    out.append(kColumn - tool.verb.size(), ' ').append(tool.summary).append("\n");
  }
  out.append("\n'git maco <verb> -h' shows a verb's usage, 'git maco --help' the manual.\n");
  return out;
}

int Dispatch(int argc, char** argv) {
  if (argc < 2) {
    Note(kName, "which verb? see 'git maco -h'");
    return kExitUsage;
  }
  const std::string_view verb = argv[1];
  if (const Tool* tool = FindTool(verb); tool != nullptr) {
    return Become(*tool, argv + 2);
  }
  if (verb == "-h") {  // git's commands exit with 129 here too
    return Answer(DispatchUsage(), kExitUsage);
  }
  if (verb == "--help" || verb == "help") {  // `git maco --help` is answered by git itself
    return Answer(DispatchUsage(), kExitOk);
  }
  if (verb == "--version" || verb == "version") {
    return Answer("git-maco version " MACO_VERSION "\n", kExitOk);
  }
  if (verb == "--list-verbs") {
    return Answer(VerbList(), kExitOk);
  }
  return UnknownVerb(verb);
}

}  // namespace maco

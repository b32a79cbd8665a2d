// Where git is, and what it is told.
// Contract: libcommon/git/git_program.h.
#include "libcommon/git/git_program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace maco {
namespace {

constexpr std::string_view kDiscovery[] = {"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR",
                                           "GIT_CEILING_DIRECTORIES",
                                           "GIT_DISCOVERY_ACROSS_FILESYSTEM"};
constexpr std::string_view kConfig = "GIT_CONFIG_";  // PARAMETERS, COUNT, KEY_n, GLOBAL, ...

}  // namespace

Result<std::string> FindGitProgram() {
  for (const char* directory :
       {"/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"}) {
    std::string path = std::string(directory) + "/git";
    struct stat st {};
    if (stat(path.c_str(), &st) == 0 && S_ISREG(st.st_mode) && access(path.c_str(), X_OK) == 0) {
      return path;
    }
  }
  return Fail(Code::kUnsupported, "git was not found in its fixed places",
              "install git in /usr/bin or /usr/local/bin");
}

std::vector<std::string> CleanGitEnvironment() {
  std::vector<std::string> out = {
      "LC_ALL=C",
      "PATH=/usr/bin:/bin:/usr/local/bin:/run/current-system/sw/bin",
      "GIT_TERMINAL_PROMPT=0",
      "GIT_OPTIONAL_LOCKS=0",
      "GIT_NO_REPLACE_OBJECTS=1",
      "GIT_LITERAL_PATHSPECS=1",
      "GIT_PAGER=cat",
  };
  for (const char* name : {"HOME", "XDG_CONFIG_HOME"}) {
    if (const char* value = std::getenv(name); value != nullptr) {
      out.push_back(std::string(name) + "=" + value);
    }
  }
  return out;
}

std::vector<std::string> CallersGitVariables(GitVariables which) {
  std::vector<std::string> out;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view variable = *entry;
    const std::string_view name = variable.substr(0, variable.find('='));
    const bool config = which == GitVariables::kDiscoveryAndConfig && name.starts_with(kConfig);
    if (config || std::ranges::find(kDiscovery, name) != std::end(kDiscovery)) {
      out.emplace_back(variable);
    }
  }
  return out;
}

}  // namespace maco

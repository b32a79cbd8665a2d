// Discovery of the repository, the home directory and the guardian.
// Contract: maco-run/surroundings.h.
#include "maco-run/surroundings.h"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "libcommon/auth/state_root.h"
#include "libcommon/git/repository.h"
#include "maco-run/own_program.h"
#include "maco-run/spec/path_walk.h"

namespace maco::run {
namespace {

Result<std::string> CurrentDirectory() {
  std::array<char, 4096> path{};
  if (getcwd(path.data(), path.size()) == nullptr) {
    return FailOs(errno, "find the current directory");
  }
  return std::string(path.data());
}

// What the caller's environment names is the caller's word. With GIT_DIR alone that is the current
// directory.
bool NamedByCaller(const std::string& worktree, const std::string& current) {
  const char* named = std::getenv("GIT_WORK_TREE");
  if (named != nullptr && *named != '\0') {
    return true;
  }
  return std::getenv("GIT_DIR") != nullptr && !worktree.empty() &&
         Canonical(worktree) == Canonical(current);
}

}  // namespace

Result<Surroundings> FindSurroundings(Repository repository) {
  Surroundings out;
  MACO_ASSIGN(out.current_directory, CurrentDirectory());
  MACO_ASSIGN(out.guardian, OwnProgram("maco-guardian"));
  const passwd* user = getpwuid(geteuid());
  out.home = user != nullptr ? user->pw_dir : "";
  out.git_dir = std::move(repository.git_dir);
  out.common_dir = std::move(repository.common_dir);
  out.worktree = std::move(repository.worktree);
  out.worktree_named = NamedByCaller(out.worktree, out.current_directory);
  out.state_root = out.common_dir + "/" + kStateRootName;
  return out;
}

}  // namespace maco::run

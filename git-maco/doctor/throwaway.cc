// mkdtemp(3), git init, state root.
// Contract: git-maco/doctor/throwaway.h.
#include "git-maco/doctor/throwaway.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "libcommon/base/text.h"
#include "libcommon/git/git_program.h"
#include "libcommon/os/directory.h"
#include "libcommon/os/spawn.h"

namespace maco::doctor {
namespace {

std::string TemporaryRoot() {
  const char* named = std::getenv("TMPDIR");
  // systemd can only be told of paths in UTF-8.
  return named != nullptr && named[0] == '/' && IsUtf8(named) ? named : "/tmp";
}

// Nothing of the user's configuration or templates.
Result<void> MakeRepository(const std::string& path) {
  SpawnRequest request;
  MACO_ASSIGN(request.program, FindGitProgram());
  request.arguments = {"init", "-q", "--template=", path};
  request.environment = CleanGitEnvironment();
  request.environment.emplace_back("GIT_CONFIG_NOSYSTEM=1");
  request.environment.emplace_back("GIT_CONFIG_GLOBAL=/dev/null");
  SpawnResult result;
  MACO_ASSIGN(result, RunProgram(request));
  if (result.exit_status != 0 || result.signal != 0) {
    return Fail(Code::kIo, "cannot make a repository: " +
                               result.error_output.substr(0, result.error_output.find('\n')));
  }
  return {};
}

}  // namespace

Result<TemporaryDirectory> TemporaryDirectory::Make() {
  std::string path = TemporaryRoot() + "/maco-doctor-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) {
    return FailOs(errno, "create temporary directory", path);
  }
  return TemporaryDirectory(std::move(path));
}

TemporaryDirectory::TemporaryDirectory(TemporaryDirectory&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryDirectory::~TemporaryDirectory() {
  if (!path_.empty()) {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
}

Result<Throwaway> Throwaway::Make() {
  auto directory = TemporaryDirectory::Make();
  if (!directory) {
    return Fail(std::move(directory).error());
  }
  std::string worktree = directory->path() + "/repository";
  MACO_TRY(MakeRepository(worktree));
  Directory common_dir;
  MACO_ASSIGN(common_dir, Directory::OpenPath(worktree + "/.git"));
  auto state = StateRoot::Initialize(common_dir);
  if (!state) {
    return Fail(std::move(state).error());
  }
  return Throwaway(*std::move(directory), std::move(worktree), *std::move(state));
}

}  // namespace maco::doctor

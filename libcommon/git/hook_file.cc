// Contract: libcommon/git/hook_file.h.
#include "libcommon/git/hook_file.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>

#include "libcommon/base/byte_codec.h"
#include "libcommon/os/atomic_file.h"
#include "libcommon/os/bounded_read.h"

namespace maco {

std::string HooksDirectory(const Repository& repository, const std::string& hooks_path) {
  if (hooks_path.empty()) {
    return repository.common_dir + "/hooks";
  }
  const char* home = std::getenv("HOME");
  if (hooks_path.starts_with("~/") && home != nullptr) {
    return home + hooks_path.substr(1);
  }
  // It counts from where hooks are run.
  const std::string& here = repository.worktree.empty() ? repository.git_dir : repository.worktree;
  return hooks_path.starts_with('/') ? hooks_path : here + "/" + hooks_path;
}

Result<HookState> LookAtHook(const std::string& file, const std::string& text) {
  constexpr std::size_t kMaxText = 65'536;
  const auto there = ReadPath(file, kMaxText);
  if (!there && there.error().code == Code::kNotFound) {
    return HookState::kMissing;
  }
  if (!there && there.error().code != Code::kLimit) {
    return Fail(there.error());
  }
  return there && *there == text ? HookState::kOurs : HookState::kForeign;
}

Result<void> WriteHook(const std::string& directory, const std::string& name,
                       const std::string& text) {
  if (mkdir(directory.c_str(), 0777) != 0 && errno != EEXIST) {
    return FailOs(errno, "create", directory);
  }
  Directory hooks;
  MACO_ASSIGN(hooks, Directory::OpenPath(directory));
  auto file = AtomicFile::Create(hooks, name);
  if (!file) {
    return Fail(std::move(file).error());
  }
  MACO_TRY(WriteAll(file->fd(), AsBytes(text)));
  if (fchmod(file->fd(), 0755) != 0) {
    return FailOs(errno, "make executable", directory + "/" + name);
  }
  return file->CommitNew();
}

}  // namespace maco

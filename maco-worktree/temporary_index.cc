// sendfile(2) and futimens(3).
// Contract: maco-worktree/temporary_index.h.
#include "maco-worktree/temporary_index.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "libcommon/base/random_id.h"
#include "libcommon/os/fd.h"

namespace maco::worktree {

Result<void> CopyIndex(const std::string& from, const std::string& to) {
  const UniqueFd source(open(from.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat st {};
  if (!source.valid() || fstat(source.get(), &st) != 0) {
    return FailOs(errno, "open", from);
  }
  const UniqueFd copy(open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!copy.valid()) {
    return FailOs(errno, "create", to);
  }
  for (off_t left = st.st_size; left > 0;) {
    const ssize_t n = sendfile(copy.get(), source.get(), nullptr, static_cast<std::size_t>(left));
    if (n <= 0) {
      return FailOs(n < 0 ? errno : EIO, "copy", from);
    }
    left -= n;
  }
  // Racily clean entries are told by the time of the index, see git's racy-git.txt.
  const std::array<timespec, 2> times{st.st_atim, st.st_mtim};
  if (futimens(copy.get(), times.data()) != 0) {
    return FailOs(errno, "set the time of", to);
  }
  return {};
}

Result<TemporaryIndex> TemporaryIndex::Create(const LaneGit& git, const std::string& from) {
  std::string id;
  MACO_ASSIGN(id, RandomId());
  TemporaryIndex index(git.files() + "/index." + id);
  if (!from.empty()) {
    MACO_TRY(CopyIndex(from, index.path_));
  }
  return index;
}

Result<TemporaryIndex> TemporaryIndex::Of(const LaneGit& git, const BaseIndex& base,
                                          const std::vector<std::string_view>& doubted) {
  auto index = Create(git, "");
  if (!index) {
    return index;
  }
  const UniqueFd file(open(index->path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.valid()) {
    return FailOs(errno, "create", index->path_);
  }
  MACO_TRY(base.WriteWithoutStat(file.get(), doubted));
  const std::array<timespec, 2> never{};  // is no time to git
  if (futimens(file.get(), never.data()) != 0) {
    return FailOs(errno, "set the time of", index->path_);
  }
  return index;
}

TemporaryIndex::TemporaryIndex(TemporaryIndex&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryIndex::~TemporaryIndex() {
  if (!path_.empty()) {
    unlink(path_.c_str());
    unlink((path_ + ".lock").c_str());
  }
}

}  // namespace maco::worktree

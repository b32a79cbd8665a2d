// FICLONE, file by file, through descriptors of the two directories.
// Contract: maco-worktree/clone_files.h.
#include "maco-worktree/clone_files.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <cerrno>

#include "libcommon/os/directory.h"

namespace maco::worktree {
namespace {

enum class Cloned { kYes, kNo, kNever };

// Errors that say: not of these two file systems, whatever the file.
bool IsNever(int error) {
  return error == EOPNOTSUPP || error == EXDEV || error == ENOTTY || error == ENOSYS;
}

Result<void> MakeParents(const Directory& to, const std::string& path, std::string& made) {
  const std::size_t slash = path.rfind('/');
  const std::string parent = slash == std::string::npos ? "" : path.substr(0, slash);
  if (parent.empty() || parent == made) {
    return {};
  }
  for (std::size_t end = parent.find('/');; end = parent.find('/', end + 1)) {
    MACO_TRY(to.OpenOrCreate(parent.substr(0, end), 0777));
    if (end == std::string::npos) {
      break;
    }
  }
  made = parent;
  return {};
}

class Cloner {
 public:
  Cloner(Directory from, Directory to) : from_(std::move(from)), to_(std::move(to)) {}

  Result<Cloned> Clone(const std::string& path, std::uint32_t mode, const BaseIndex& index,
                       std::size_t entry) {
    const auto source = from_.OpenFile(path, O_RDONLY | O_NONBLOCK);
    struct stat st {};
    if (!source || fstat(source->get(), &st) != 0 || !S_ISREG(st.st_mode) ||
        static_cast<std::uint64_t>(st.st_size) < kLeastCloned || !index.IsUnchanged(entry, st)) {
      return Cloned::kNo;  // git makes it, or says why it cannot
    }
    MACO_TRY(MakeParents(to_, path, parent_));
    UniqueFd copy;
    MACO_ASSIGN(
        copy, to_.OpenFile(path, O_WRONLY | O_CREAT | O_EXCL, (mode & S_IXUSR) != 0 ? 0777 : 0666));
    if (ioctl(copy.get(), FICLONE, source->get()) == 0) {
      return Cloned::kYes;
    }
    const int error = errno;
    MACO_TRY(to_.Unlink(path));
    return IsNever(error) ? Cloned::kNever : Cloned::kNo;
  }

 private:
  Directory from_;
  Directory to_;
  std::string parent_;  // the last one that was made
};

}  // namespace

bool SharesBlocks(const std::string& file, const std::string& directory) {
  const UniqueFd source(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  const UniqueFd target(open(directory.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  return source.valid() && target.valid() && ioctl(target.get(), FICLONE, source.get()) == 0;
}

Result<std::size_t> CloneFiles(const std::string& from, const BaseIndex& index,
                               const std::string& to, const BaseIndex& base) {
  Directory source;
  Directory target;
  MACO_ASSIGN(source, Directory::OpenPath(from));
  MACO_ASSIGN(target, Directory::OpenPath(to));
  Cloner cloner(std::move(source), std::move(target));
  std::size_t count = 0;
  for (std::size_t i = 0; i < base.size(); ++i) {
    const auto entry = S_ISREG(base.ModeOf(i)) ? index.Find(base.PathOf(i)) : std::nullopt;
    if (!entry || index.IdOf(*entry) != base.IdOf(i) || index.SizeOf(*entry) < kLeastCloned) {
      continue;
    }
    Cloned cloned = Cloned::kNo;
    MACO_ASSIGN(cloned, cloner.Clone(std::string(base.PathOf(i)), base.ModeOf(i), index, *entry));
    if (cloned == Cloned::kNever) {
      break;
    }
    count += cloned == Cloned::kYes ? 1 : 0;
  }
  return count;
}

}  // namespace maco::worktree

// FICLONE, file by file, through descriptors of the two directories.
// Contract: maco-worktree/clone_files.h.
#include "maco-worktree/clone_files.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "libcommon/auth/blob_id.h"
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

bool SameTimes(const struct stat& a, const struct stat& b) {
  return a.st_ctim.tv_sec == b.st_ctim.tv_sec && a.st_ctim.tv_nsec == b.st_ctim.tv_nsec &&
         a.st_size == b.st_size;
}

bool IsBefore(const timespec& a, const timespec& b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

// Clones some of the files; one for each thread.
class Cloner {
 public:
  Cloner(Directory from, const BaseIndex& index, Directory to, const BaseIndex& base, int base_fd)
      : from_(std::move(from)), index_(index), to_(std::move(to)), base_(base), base_fd_(base_fd) {
    clock_gettime(CLOCK_REALTIME_COARSE, &began_);
  }

  // Every `step`-th entry from `first` on.
  Result<std::size_t> CloneSome(std::size_t first, std::size_t step) {
    std::size_t count = 0;
    for (std::size_t i = first; i < base_.size(); i += step) {
      const auto entry = S_ISREG(base_.ModeOf(i)) ? index_.Find(base_.PathOf(i)) : std::nullopt;
      if (!entry || index_.IdOf(*entry) != base_.IdOf(i) || index_.SizeOf(*entry) < kLeastCloned) {
        continue;
      }
      Cloned cloned = Cloned::kNo;
      MACO_ASSIGN(cloned, Clone(std::string(base_.PathOf(i)), i, *entry));
      if (cloned == Cloned::kNever) {
        break;
      }
      count += cloned == Cloned::kYes ? 1 : 0;
    }
    return count;
  }

 private:
  // The source is read, since its pages are there already: what was cloned has its content if
  // nobody wrote it since before the clone, which a time of change that is older than all this
  // tells.
  Result<Cloned> Clone(const std::string& path, std::size_t i, std::size_t entry) {
    const auto source = from_.OpenFile(path, O_RDONLY | O_NONBLOCK);
    struct stat before {};
    if (!source || fstat(source->get(), &before) != 0 || !S_ISREG(before.st_mode) ||
        static_cast<std::uint64_t>(before.st_size) < kLeastCloned ||
        !IsBefore(before.st_ctim, began_) || !index_.IsUnchanged(entry, before)) {
      return Cloned::kNo;  // git makes it, or says why it cannot
    }
    MACO_TRY(MakeParents(to_, path, parent_));
    UniqueFd copy;
    MACO_ASSIGN(copy, to_.OpenFile(path, O_WRONLY | O_CREAT | O_EXCL,
                                   (base_.ModeOf(i) & S_IXUSR) != 0 ? 0777 : 0666));
    const int error = ioctl(copy.get(), FICLONE, source->get()) == 0 ? 0 : errno;
    struct stat after {};
    struct stat made {};
    if (error == 0 && HasId(source->get(), before, i) && fstat(source->get(), &after) == 0 &&
        SameTimes(before, after) && fstat(copy.get(), &made) == 0) {
      MACO_TRY(base_.PutStat(base_fd_, i, made));
      return Cloned::kYes;
    }
    MACO_TRY(to_.Unlink(path));
    return IsNever(error) ? Cloned::kNever : Cloned::kNo;
  }

  bool HasId(int file, const struct stat& st, std::size_t i) const {
    const auto wanted = base_.IdOf(i);
    const auto id = BlobIdOfFile(file, static_cast<std::uint64_t>(st.st_size), wanted.size());
    return id && *id == wanted;
  }

  Directory from_;
  const BaseIndex& index_;
  Directory to_;
  const BaseIndex& base_;
  int base_fd_;
  timespec began_{};
  std::string parent_;  // the last one that was made
};

}  // namespace

bool SharesBlocks(const std::string& file, const std::string& directory) {
  const UniqueFd source(open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const UniqueFd target(open(directory.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
  return source.valid() && target.valid() && ioctl(target.get(), FICLONE, source.get()) == 0;
}

Result<std::size_t> CloneFiles(const std::string& from, const BaseIndex& index,
                               const std::string& to, const BaseIndex& base, int base_fd) {
  constexpr std::size_t kMaxThreads = 8;
  const std::size_t threads =
      std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMaxThreads);
  std::vector<std::future<Result<std::size_t>>> parts;
  for (std::size_t first = 0; first < threads; ++first) {
    Directory source;
    Directory target;
    MACO_ASSIGN(source, Directory::OpenPath(from));
    MACO_ASSIGN(target, Directory::OpenPath(to));
    auto cloner =
        std::make_shared<Cloner>(std::move(source), index, std::move(target), base, base_fd);
    parts.push_back(std::async(std::launch::async, [cloner, first, threads] {
      return cloner->CloneSome(first, threads);
    }));
  }
  std::size_t count = 0;
  Result<void> failed;
  for (auto& part : parts) {
    const auto some = part.get();
    if (!some) {
      failed = Fail(some.error());
    } else {
      count += *some;
    }
  }
  MACO_TRY(failed);
  return count;
}

}  // namespace maco::worktree

// A walk with one descriptor for each level.
// Contract: maco-worktree/inspect.h.
#include "maco-worktree/inspect.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string_view>

#include "libcommon/os/directory.h"

namespace maco::worktree {
namespace {

constexpr std::uint64_t kMaxEntries = 1'000'000;
constexpr int kMaxDepth = 256;
constexpr std::size_t kMaxFindings = 100;

struct CloseDir {
  void operator()(DIR* directory) const { closedir(directory); }
};

// ".git" in any spelling that some file system takes for it: letters of either case, trailing dots
// and blanks, the short name of Windows.
bool IsGitName(std::string_view name) {
  while (!name.empty() && (name.back() == '.' || name.back() == ' ')) {
    name.remove_suffix(1);
  }
  if (name.size() != 4 && name.size() != 5) {
    return false;
  }
  std::string lower;
  for (const char c : name) {
    lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return lower == ".git" || lower == "git~1";
}

const char* KindName(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFIFO:
      return "is a FIFO";
    case S_IFSOCK:
      return "is a socket";
    case S_IFCHR:
    case S_IFBLK:
      return "is a device";
    default:
      return "is of no kind that git knows";
  }
}

class Walk {
 public:
  explicit Walk(Inspection& out) : out_(out) {}

  Result<void> Below(const Directory& directory, const std::string& prefix, int depth) {
    if (depth > kMaxDepth) {
      return Found(prefix, "is nested deeper than 256 directories");
    }
    UniqueFd copy(openat(directory.fd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    std::unique_ptr<DIR, CloseDir> stream(copy.valid() ? fdopendir(copy.get()) : nullptr);
    if (!stream) {
      return FailOs(errno, "read the directory", prefix.empty() ? "." : prefix);
    }
    copy.Release();
    errno = 0;
    while (const dirent* entry = Enough() ? nullptr : readdir(stream.get())) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != ".." && !(depth == 0 && name == ".git")) {
        MACO_TRY(Meet(directory, prefix, std::string(name), depth));
      }
      errno = 0;
    }
    return errno == 0 ? Result<void>() : FailOs(errno, "read the directory", prefix);
  }

 private:
  Result<void> Meet(const Directory& directory, const std::string& prefix, const std::string& name,
                    int depth) {
    if (++out_.entries > kMaxEntries) {
      return Found("", "the lane has more than a million entries");
    }
    const std::string path = prefix.empty() ? name : prefix + "/" + name;
    if (IsGitName(name)) {
      return Found(path, depth == 0 ? "is another spelling of '.git'"
                                    : "makes its directory a repository of its own");
    }
    struct stat st {};
    if (fstatat(directory.fd(), name.c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0) {
      return FailOs(errno, "look at", path);
    }
    if (S_ISDIR(st.st_mode)) {
      auto below = directory.Open(name);
      if (!below) {
        return Found(
            path, below.error().os_errno == EXDEV ? "is another file system" : "cannot be opened");
      }
      return Below(*below, path, depth + 1);
    }
    if (S_ISREG(st.st_mode)) {
      if (static_cast<std::uint64_t>(st.st_size) > kLargeFileBytes) {
        out_.large_files.push_back(path);
      }
      return {};
    }
    return S_ISLNK(st.st_mode) ? Result<void>() : Found(path, KindName(st.st_mode));
  }

  // What was found is enough for a no: the walk ends.
  bool Enough() const { return out_.findings.size() >= kMaxFindings || out_.entries > kMaxEntries; }

  Result<void> Found(const std::string& path, const char* what) {
    out_.findings.push_back({path, what});
    return {};
  }

  Inspection& out_;
};

}  // namespace

Result<Inspection> InspectLane(const std::string& path) {
  Inspection out;
  Directory top;
  MACO_ASSIGN(top, Directory::OpenPath(path));
  MACO_TRY(Walk(out).Below(top, "", 0));
  return out;
}

}  // namespace maco::worktree

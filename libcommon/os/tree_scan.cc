// Depth-first scan with getdents64(2); names of pending directories are kept in one packed stack.
// Contract: libcommon/os/tree_scan.h.
#include "libcommon/os/tree_scan.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>
#include <string_view>

#include "libcommon/base/text.h"

#include "libcommon/os/bounded_read.h"
#include "libcommon/os/mountinfo.h"

namespace maco {
namespace {

constexpr std::string_view kStateRoot = "maco";  // kStateRootName of libcommon/auth/state_root.h
constexpr unsigned kGitShape = 7;
constexpr std::size_t kBufferBytes = 64UL << 10U;

// As the kernel writes it, see getdents64(2).
struct KernelDirent {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t length;
  std::uint8_t type;
  char name[1];
};

std::string_view KindName(unsigned mode) {
  switch (mode & S_IFMT) {
    case S_IFSOCK:
      return "a socket";
    case S_IFIFO:
      return "a FIFO";
    case S_IFCHR:
    case S_IFBLK:
      return "a device node";
    default:
      return "a file of unknown kind";
  }
}

unsigned ModeOfType(unsigned type) { return DTTOIF(type); }

class Scanner {
 public:
  Scanner(const Directory& root, const std::string& name, const ScanLimits& limits,
          ScanFindings& seen, WritableFindings* findings)
      : root_(root), name_(name), limits_(limits), seen_(seen), findings_(findings) {}

  Result<void> Run() {
    MACO_ASSIGN(origin_, root_.Identity());
    MACO_TRY(RefuseMountsBelow());
    buffer_ = std::make_unique<std::array<char, kBufferBytes>>();
    MACO_TRY(Enter(""));
    while (!levels_.empty()) {
      if (names_.size() == levels_.back().names) {
        levels_.pop_back();
      } else {
        MACO_TRY(Enter(Pop()));
      }
    }
    return {};
  }

 private:
  // A file that is a mount point looks like any other in its directory, so the mount table is
  // asked.
  Result<void> RefuseMountsBelow() const {
    std::array<char, PATH_MAX> path{};
    const std::string link = "/proc/self/fd/" + std::to_string(root_.fd());
    const ssize_t length = readlink(link.c_str(), path.data(), path.size());
    if (length < 0) {
      return FailOs(errno, "find the path of a descriptor");
    }
    const std::string_view root(path.data(), static_cast<std::size_t>(length));
    std::string text;
    MACO_ASSIGN(text, ReadPath("/proc/self/mountinfo", kMaxMountinfoBytes));
    MountTable table;
    MACO_ASSIGN(table, MountTable::Parse(text));
    for (const auto& mount : table.mounts()) {
      if (mount.point != root && PathIsWithin(mount.point, root) &&
          table.Covering(mount.point) == &mount) {
        return OnAnotherMount(mount.point);
      }
    }
    return {};
  }

  static tl::unexpected<Error> OnAnotherMount(const std::string& path) {
    return Fail(Code::kRefused, "'" + path + "' lies on another filesystem or mount",
                "unmount it, or run in a directory without it");
  }

  // A directory on the way to the one that is read, and where the names of its own directories that
  // are yet to be visited begin.
  struct Level {
    std::size_t path = 0;   // length of its relative path
    std::size_t names = 0;  // offset in names_
  };

  Result<void> Enter(std::string relative) {
    levels_.push_back({relative.size(), names_.size()});
    path_ = std::move(relative);
    return Visit(path_);
  }

  // The path of the next directory of the innermost level.
  std::string Pop() {
    const Level& level = levels_.back();
    names_.pop_back();
    const std::size_t start = std::max(names_.rfind('\0') + 1, level.names);  // npos + 1 is 0
    std::string relative =
        Join(path_.substr(0, level.path), std::string_view(names_).substr(start));
    names_.resize(start);
    return relative;
  }

  std::string Full(const std::string& relative) const {
    return relative.empty() ? name_ : name_ + (name_ == "/" ? "" : "/") + relative;
  }

  Result<void> Visit(const std::string& relative) {
    auto directory = root_.Open(relative.empty() ? "." : relative);
    if (!directory) {
      return OpenFailed(std::move(directory).error(), relative);
    }
    FileIdentity identity;
    MACO_ASSIGN(identity, directory->Identity());
    if (identity.device != origin_.device || identity.mount_id != origin_.mount_id) {
      return OnAnotherMount(Full(relative));
    }
    shape_ = 0;
    for (;;) {
      const long n = syscall(SYS_getdents64, directory->fd(), buffer_->data(), buffer_->size());
      if (n < 0) {
        return FailOs(errno, "read directory", Full(relative));
      }
      if (n == 0) {
        return Leave(*directory, relative);
      }
      MACO_TRY(Entries(*directory, relative, static_cast<std::size_t>(n)));
    }
  }

  Result<void> OpenFailed(Error error, const std::string& relative) const {
    if (error.code == Code::kNotFound || error.os_errno == ENOTDIR || error.os_errno == ELOOP) {
      return {};  // it went away or changed its kind since its name was read; the next pass sees it
    }
    if (error.os_errno == EXDEV) {
      return OnAnotherMount(Full(relative));
    }
    error.message = "cannot scan '" + Full(relative) + "': " + error.message;
    if (error.code == Code::kPermission) {
      error.remedy = "make it readable (chmod u+rx), or run in a directory without it";
    } else if (error.os_errno == ENAMETOOLONG) {
      error.remedy = "remove the tree (rm -r), or run in a directory without it";
    }
    return Fail(std::move(error));
  }

  // What a directory is can be told by what was in it.
  Result<void> Leave(const Directory& directory, const std::string& relative) {
    if (findings_ != nullptr && shape_ == kGitShape && !InGit(relative)) {
      MACO_TRY(
          Collect(Full(relative), limits_.git_entries, "repositories", findings_->git_directories));
    }
    const std::string_view path = relative.empty() ? name_ : relative;
    if (path.substr(path.rfind('/') + 1) != kStateRoot) {  // npos + 1 is 0
      return {};
    }
    const auto key = directory.Stat("key");
    if (!key || !S_ISREG(key->mode)) {
      return {};
    }
    return Collect(Full(relative), limits_.state_roots, "state roots of git maco",
                   seen_.state_roots);
  }

  Result<void> Collect(std::string path, std::size_t limit, const char* what,
                       std::vector<std::string>& out) const {
    if (out.size() == limit) {
      return Fail(Code::kLimit,
                  "'" + name_ + "' holds more than " + std::to_string(limit) + " " + what,
                  "run in a smaller directory");
    }
    out.push_back(std::move(path));
    return {};
  }

  Result<void> Entries(const Directory& directory, const std::string& relative, std::size_t size) {
    for (std::size_t at = 0; at < size;) {
      const auto* entry = reinterpret_cast<const KernelDirent*>(buffer_->data() + at);
      at += entry->length;
      const std::string_view entry_name(entry->name);
      if (entry_name == "." || entry_name == "..") {
        continue;
      }
      if (++seen_.entries > limits_.entries) {
        return Fail(
            Code::kLimit,
            "'" + name_ + "' holds more than " + std::to_string(limits_.entries) + " entries",
            "raise the limit with --scan-entries, or run in a smaller directory");
      }
      MACO_TRY(Entry(directory, relative, entry_name, ModeOfType(entry->type)));
    }
    return {};
  }

  Result<void> Entry(const Directory& directory, const std::string& relative,
                     std::string_view entry_name, unsigned mode) {
    const bool need_links = findings_ != nullptr && S_ISREG(mode);
    FileIdentity identity;
    if (mode == 0 || need_links) {
      const auto seen = directory.Stat(std::string(entry_name));
      if (!seen) {
        return seen.error().code == Code::kNotFound ? Result<void>{} : Fail(seen.error());
      }
      identity = *seen;
      mode = identity.mode;
    }
    if (entry_name == ".git") {
      MACO_TRY(MeetGit(Full(Join(relative, entry_name)), mode));
    }
    shape_ |= Shape(entry_name, mode);
    if (S_ISDIR(mode)) {
      ++seen_.directories;
      names_.append(entry_name).push_back('\0');
      return {};
    }
    if (S_ISREG(mode)) {
      ++seen_.files;
      if (findings_ != nullptr && identity.links > 1 && !InGit(relative)) {
        findings_->ledger.Meet(identity, Full(Join(relative, entry_name)));
      }
      return {};
    }
    if (S_ISLNK(mode)) {
      ++seen_.links;
      return {};
    }
    return Special(Join(relative, entry_name), mode);
  }

  // Whether a directory is a ".git" or lies in one.
  static bool InGit(std::string_view relative) {
    for (const auto part : Split(relative, '/')) {
      if (part == ".git") {
        return true;
      }
    }
    return false;
  }

  // What git looks for, see is_git_directory() in its setup.c; it follows links.
  static unsigned Shape(std::string_view entry_name, unsigned mode) {
    if (entry_name == "HEAD" && (S_ISREG(mode) || S_ISLNK(mode))) {
      return 1;
    }
    if (!S_ISDIR(mode) && !S_ISLNK(mode)) {
      return 0;
    }
    return entry_name == "objects" ? 2 : entry_name == "refs" ? 4 : 0;
  }

  Result<void> MeetGit(const std::string& path, unsigned mode) {
    if (S_ISREG(mode)) {
      MACO_TRY(Collect(path, limits_.git_entries, "nested repositories", seen_.git_files));
    }
    if (findings_ == nullptr) {
      return {};
    }
    if (S_ISLNK(mode)) {
      return Fail(
          Code::kRefused, "'" + path + "' is a symbolic link, so it cannot be protected",
          "replace it with a file that says 'gitdir: PATH', see git init --separate-git-dir");
    }
    return Collect(path, limits_.git_entries, "nested repositories", findings_->git_entries);
  }

  static std::string Join(const std::string& relative, std::string_view entry_name) {
    return relative.empty() ? std::string(entry_name) : relative + "/" + std::string(entry_name);
  }

  Result<void> Special(const std::string& relative, unsigned mode) const {
    std::string remedy = "remove it, or run in a directory without it";
    if (S_ISSOCK(mode) && relative.ends_with("fsmonitor--daemon.ipc")) {
      remedy = "stop git's file system monitor: git fsmonitor--daemon stop";
    }
    return Fail(Code::kRefused, "'" + Full(relative) + "' is " + std::string(KindName(mode)),
                std::move(remedy));
  }

  const Directory& root_;
  const std::string& name_;
  const ScanLimits& limits_;
  ScanFindings& seen_;
  WritableFindings* findings_;
  FileIdentity origin_;
  std::vector<Level> levels_;  // from the root to the directory that was read last
  std::string path_;           // relative, of the latter
  std::string names_;          // each ended by a zero byte, last in first out
  unsigned shape_ = 0;         // of the directory that is being read
  std::unique_ptr<std::array<char, kBufferBytes>> buffer_;
};

}  // namespace

Result<void> ScanTree(const Directory& root, const std::string& name, const ScanLimits& limits,
                      ScanFindings& seen, WritableFindings* findings) {
  return Scanner(root, name, limits, seen, findings).Run();
}

}  // namespace maco

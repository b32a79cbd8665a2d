// Depth-first scan with getdents64(2); pending directories are kept in one packed stack.
// Contract: libcommon/os/tree_scan.h.
#include "libcommon/os/tree_scan.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

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
          ScanCounts& counts, WritableFindings* findings)
      : root_(root), name_(name), limits_(limits), counts_(counts), findings_(findings) {}

  Result<void> Run() {
    MACO_ASSIGN(origin_, root_.Identity());
    MACO_TRY(RefuseMountsBelow());
    buffer_ = std::make_unique<std::array<char, kBufferBytes>>();
    pending_.push_back('\0');  // the root itself: an empty relative path
    while (!pending_.empty()) {
      MACO_TRY(Visit(Pop()));
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

  std::string Pop() {
    pending_.pop_back();
    const std::size_t start = pending_.rfind('\0') + 1;  // npos + 1 is 0
    std::string relative = pending_.substr(start);
    pending_.resize(start);
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
    for (;;) {
      const long n = syscall(SYS_getdents64, directory->fd(), buffer_->data(), buffer_->size());
      if (n < 0) {
        return FailOs(errno, "read directory", Full(relative));
      }
      if (n == 0) {
        return {};
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
    return Fail(std::move(error));
  }

  Result<void> Entries(const Directory& directory, const std::string& relative, std::size_t size) {
    for (std::size_t at = 0; at < size;) {
      const auto* entry = reinterpret_cast<const KernelDirent*>(buffer_->data() + at);
      at += entry->length;
      const std::string_view entry_name(entry->name);
      if (entry_name == "." || entry_name == "..") {
        continue;
      }
      if (++counts_.entries > limits_.entries) {
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
    if (findings_ != nullptr && entry_name == ".git") {
      MACO_TRY(MeetGit(Full(Join(relative, entry_name)), mode));
    }
    if (S_ISDIR(mode)) {
      ++counts_.directories;
      if (!relative.empty()) {
        pending_.append(relative).push_back('/');
      }
      pending_.append(entry_name).push_back('\0');
      return {};
    }
    if (S_ISREG(mode)) {
      ++counts_.files;
      if (findings_ != nullptr && identity.links > 1 && !InGit(relative)) {
        findings_->ledger.Meet(identity, Full(Join(relative, entry_name)));
      }
      return {};
    }
    if (S_ISLNK(mode)) {
      ++counts_.links;
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

  Result<void> MeetGit(std::string path, unsigned mode) {
    if (S_ISLNK(mode)) {
      return Fail(
          Code::kRefused, "'" + path + "' is a symbolic link, so it cannot be protected",
          "replace it with a file that says 'gitdir: PATH', see git init --separate-git-dir");
    }
    if (findings_->git_entries.size() == limits_.git_entries) {
      return Fail(Code::kLimit, "'" + name_ + "' holds more than " +
                                    std::to_string(limits_.git_entries) + " nested repositories");
    }
    findings_->git_entries.push_back(std::move(path));
    return {};
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
  ScanCounts& counts_;
  WritableFindings* findings_;
  FileIdentity origin_;
  std::string pending_;  // relative paths, each ended by a zero byte, last in first out
  std::unique_ptr<std::array<char, kBufferBytes>> buffer_;
};

}  // namespace

void LinkLedger::Meet(const FileIdentity& identity, const std::string& path) {
  const auto [place, added] = missing_.try_emplace({identity.device, identity.inode});
  Entry& entry = place->second;
  entry.links = identity.links;
  if (++entry.met >= entry.links) {
    missing_.erase(place);
    return;
  }
  if (added) {
    const std::size_t name = path.rfind('/') + 1;  // npos + 1 is 0
    const std::string directory = path.substr(0, name);
    // The entries of a directory come one after the other.
    if (directories_.empty() || directories_.back() != directory) {
      directories_.push_back(directory);
    }
    entry.directory = directories_.size() - 1;
    entry.name = path.substr(name);
  }
}

Result<void> LinkLedger::Check() const {
  if (missing_.empty()) {
    return {};
  }
  const Entry& entry = missing_.begin()->second;
  return Fail(Code::kRefused,
              "'" + directories_[entry.directory] + entry.name +
                  "' is writable and has another name outside (hard link)",
              "copy the file onto itself, so that it has one name: cp -p FILE FILE.new && mv "
              "FILE.new FILE");
}

Result<void> ScanTree(const Directory& root, const std::string& name, const ScanLimits& limits,
                      ScanCounts& counts, WritableFindings* findings) {
  return Scanner(root, name, limits, counts, findings).Run();
}

}  // namespace maco

// Recursion to a small depth; what lies deeper is moved to the top of the quarantine and done
// later. Contract: maco-prune/delete_tree.h.
#include "maco-prune/delete_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>
#include <vector>

#include "libcommon/base/text.h"

namespace maco::prune {
namespace {

constexpr unsigned kMaxDepth = 16;  // directories open at once
constexpr std::size_t kMaxParts = 1'000'000;

struct CloseStream {
  void operator()(DIR* stream) const { closedir(stream); }
};
using Stream = std::unique_ptr<DIR, CloseStream>;

std::string PartName(const std::string& name, std::uint64_t inode) {
  return name + "+" + std::to_string(inode);
}

class Deletion {
 public:
  Deletion(const Directory& quarantine, std::string name, Names names)
      : quarantine_(quarantine), name_(std::move(name)), names_(names) {}

  Result<Deleted> Run(std::uint64_t inode) {
    FileIdentity top;
    MACO_ASSIGN(top, quarantine_.Identity());
    device_ = top.device;
    mount_ = top.mount_id;
    MACO_TRY(FindParts());
    const auto main = quarantine_.Stat(name_);
    if (main && !S_ISDIR(main->mode) && names_ == Names::kAny) {
      MACO_TRY(DeleteEntry(quarantine_, name_, 0));
    } else if (main) {
      MACO_TRY(DeleteDirectory(quarantine_, name_, inode, 0));
    } else if (main.error().code != Code::kNotFound) {
      return Fail(main.error());
    }
    while (!parts_.empty()) {
      const std::uint64_t part = parts_.back();
      parts_.pop_back();
      MACO_TRY(DeleteDirectory(quarantine_, PartName(name_, part), part, 0));
    }
    return deleted_;
  }

 private:
  Error Stop(Code code, const std::string& name, const std::string& why) const {
    return MakeError(code, "'" + EscapeControl(name) + "' in '" + name_ + "' " + why,
                     "git maco prune inspect " + name_);
  }

  // What an earlier attempt has moved up.
  Result<void> FindParts() {
    std::vector<std::string> all;
    MACO_ASSIGN(all, quarantine_.List(kMaxParts));
    const std::string prefix = name_ + "+";
    for (const auto& entry : all) {
      if (entry.starts_with(prefix)) {
        const auto inode = ParseUint(std::string_view(entry).substr(prefix.size()));
        if (!inode) {
          return Fail(Stop(Code::kCorrupt, entry, "has no name of ours"));
        }
        parts_.push_back(*inode);
      }
    }
    return {};
  }

  // Opens a directory that may be closed even to us, and makes it ours to change.
  Result<Directory> Enter(const Directory& parent, const std::string& name) const {
    UniqueFd path;
    MACO_ASSIGN(path, parent.OpenFile(name, O_PATH | O_NOFOLLOW));
    struct stat status {};
    if (fstat(path.get(), &status) != 0) {
      return FailOs(errno, "look at", name);
    }
    if (!S_ISDIR(status.st_mode)) {
      return Fail(Stop(Code::kCorrupt, name, "was exchanged while it was deleted"));
    }
    if ((status.st_mode & S_IRWXU) != S_IRWXU) {
      // Through the descriptor: the name may lead elsewhere by now. See proc(5).
      const std::string link = "/proc/self/fd/" + std::to_string(path.get());
      if (chmod(link.c_str(), S_IRWXU) != 0) {
        return FailOs(errno, "open up", name);
      }
    }
    Directory out;
    MACO_ASSIGN(out, parent.Open(name));
    FileIdentity identity;
    MACO_ASSIGN(identity, out.Identity());
    if (identity.inode != status.st_ino) {
      return Fail(Stop(Code::kCorrupt, name, "was exchanged while it was deleted"));
    }
    if (identity.device != device_ || identity.mount_id != mount_) {
      return Fail(Stop(Code::kRefused, name, "is another file system"));
    }
    return out;
  }

  Result<void> DeleteDirectory(const Directory& parent, const std::string& name,
                               std::uint64_t inode, unsigned depth) {
    Directory directory;
    MACO_ASSIGN(directory, Enter(parent, name));
    FileIdentity identity;
    MACO_ASSIGN(identity, directory.Identity());
    if (inode != 0 && identity.inode != inode) {
      return Fail(
          Stop(Code::kCorrupt, name, "is another directory than the one that was put here"));
    }
    MACO_TRY(Empty(directory, depth));
    if (unlinkat(parent.fd(), name.c_str(), AT_REMOVEDIR) != 0) {
      return FailOs(errno, "remove the directory", name);
    }
    ++deleted_.directories;
    return {};
  }

  // Names come in portions, and while they are removed: until a pass finds none.
  Result<void> Empty(const Directory& directory, unsigned depth) {
    for (bool found = true; found;) {
      found = false;
      const int copy = openat(directory.fd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      if (copy < 0) {
        return FailOs(errno, "open a directory to list it");
      }
      const Stream stream(fdopendir(copy));
      if (!stream) {
        close(copy);
        return FailOs(errno, "list a directory");
      }
      errno = 0;
      while (const dirent* entry = readdir(stream.get())) {
        const std::string name = entry->d_name;
        if (name != "." && name != "..") {
          found = true;
          MACO_TRY(DeleteEntry(directory, name, depth));
        }
        errno = 0;
      }
      if (errno != 0) {
        return FailOs(errno, "list a directory");
      }
    }
    return {};
  }

  Result<void> DeleteEntry(const Directory& directory, const std::string& name, unsigned depth) {
    struct stat status {};
    if (fstatat(directory.fd(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      return FailOs(errno, "look at", name);
    }
    if (S_ISDIR(status.st_mode)) {
      return depth < kMaxDepth ? DeleteDirectory(directory, name, status.st_ino, depth + 1)
                               : MoveUp(directory, name);
    }
    const bool plain = S_ISREG(status.st_mode) && status.st_nlink == 1;
    if (!plain && names_ == Names::kPlainOnly) {
      return Fail(
          Stop(Code::kRefused, name,
               S_ISREG(status.st_mode) ? "has another name elsewhere" : "is no plain file"));
    }
    if (unlinkat(directory.fd(), name.c_str(), 0) != 0) {
      return FailOs(errno, "remove", name);
    }
    ++deleted_.files;
    return {};
  }

  Result<void> MoveUp(const Directory& directory, const std::string& name) {
    Directory inner;  // opened up first: a closed directory cannot be moved
    MACO_ASSIGN(inner, Enter(directory, name));
    FileIdentity identity;
    MACO_ASSIGN(identity, inner.Identity());
    const std::string part = PartName(name_, identity.inode);
    MACO_TRY(directory.Move(name, quarantine_, part, Directory::IfThere::kKeep));
    parts_.push_back(identity.inode);
    return {};
  }

  const Directory& quarantine_;
  std::string name_;
  Names names_;
  std::uint64_t device_ = 0;
  std::uint64_t mount_ = 0;
  std::vector<std::uint64_t> parts_;
  Deleted deleted_;
};

}  // namespace

Result<Deleted> DeleteTree(const Directory& quarantine, const std::string& name,
                           std::uint64_t inode, Names names) {
  return Deletion(quarantine, name, names).Run(inode);
}

}  // namespace maco::prune

// Recursion to a small depth; what lies deeper is moved to the top of the quarantine and done
// before the rest. Contract: maco-prune/delete_tree.h.
#include "maco-prune/delete_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string_view>
#include <vector>

#include "libcommon/base/text.h"

namespace maco::prune {
namespace {

constexpr unsigned kMaxDepth = kTreeDescriptors - 3;  // directories open at once
constexpr std::size_t kMaxNames = 1'000'000;
constexpr std::size_t kMaxMoved = 256;  // directories moved up before those are deleted
constexpr unsigned kMaxPasses = 100;    // over one directory that somebody else writes to
constexpr std::size_t kNamesBytes = std::size_t{32} << 10U;

enum class Left { kNothing, kLater };

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
    if (main) {
      tops_.push_back({inode, false});
    } else if (main.error().code != Code::kNotFound) {
      return Fail(main.error());
    }
    while (!tops_.empty()) {
      const std::size_t at = tops_.size() - 1;
      const Top it = tops_[at];
      moved_ = 0;
      Left left = Left::kNothing;
      MACO_ASSIGN(left, DeleteTop(it.part ? PartName(name_, it.inode) : name_, it));
      if (left == Left::kNothing) {
        tops_.erase(tops_.begin() + static_cast<std::ptrdiff_t>(at));
      }
    }
    return deleted_;
  }

 private:
  struct Top {
    std::uint64_t inode = 0;
    bool part = false;
  };

  Error Stop(Code code, const std::string& name, const std::string& why) const {
    return MakeError(code, "'" + EscapeControl(name) + "' in '" + EscapeControl(name_) + "' " + why,
                     "git maco prune inspect " + EscapeControl(name_));
  }

  // What an earlier attempt has moved up.
  Result<void> FindParts() {
    std::vector<std::string> all;
    MACO_ASSIGN(all, quarantine_.List(kMaxNames));
    const std::string prefix = name_ + "+";
    for (const auto& entry : all) {
      if (entry.starts_with(prefix)) {
        if (const auto inode = ParseUint(std::string_view(entry).substr(prefix.size()))) {
          tops_.push_back({*inode, true});
        }
      }
    }
    return {};
  }

  Result<Left> DeleteTop(const std::string& name, const Top& top) {
    if (names_ == Names::kAny) {  // whatever has that name
      return DeleteEntry(quarantine_, name, 0);
    }
    return DeleteDirectory(quarantine_, name, top.inode, 0);
  }

  // Opens a directory that may be closed even to us, and makes it ours to change.
  Result<Directory> Enter(const Directory& parent, const std::string& name,
                          std::uint64_t inode) const {
    auto path = parent.OpenFile(name, O_PATH | O_NOFOLLOW);
    if (!path) {
      const auto there = parent.Stat(name);
      return Fail(there && there->mount_id != mount_
                      ? Stop(Code::kRefused, name, "is another file system")
                      : std::move(path).error());
    }
    FileIdentity identity;
    MACO_ASSIGN(identity, IdentityOf(path->get()));
    if (!S_ISDIR(identity.mode)) {
      return Fail(Stop(Code::kCorrupt, name, "was exchanged while it was deleted"));
    }
    if (identity.device != device_ || identity.mount_id != mount_) {
      return Fail(Stop(Code::kRefused, name, "is another file system"));
    }
    if (identity.inode != inode) {
      return Fail(
          Stop(Code::kCorrupt, name, "is another directory than the one that was put here"));
    }
    if ((identity.mode & S_IRWXU) != S_IRWXU) {
      // Through the descriptor: the name may lead elsewhere by now. See proc(5).
      const std::string link = "/proc/self/fd/" + std::to_string(path->get());
      if (chmod(link.c_str(), S_IRWXU) != 0) {
        return FailOs(errno, "open up", name);
      }
    }
    return Directory(*std::move(path)).Open(".");
  }

  Result<Left> DeleteDirectory(const Directory& parent, const std::string& name,
                               std::uint64_t inode, unsigned depth) {
    Directory directory;
    MACO_ASSIGN(directory, Enter(parent, name, inode));
    Left left = Left::kNothing;
    MACO_ASSIGN(left, Empty(directory, depth));
    if (left == Left::kLater) {
      return left;
    }
    if (unlinkat(parent.fd(), name.c_str(), AT_REMOVEDIR) != 0) {
      return FailOs(errno, "remove the directory", name);
    }
    ++deleted_.directories;
    return left;
  }

  // Names come in portions, and while they are removed: until a pass finds none.
  Result<Left> Empty(const Directory& directory, unsigned depth) {
    const auto names = std::make_unique<std::array<char, kNamesBytes>>();
    for (unsigned pass = 0; pass < kMaxPasses; ++pass) {
      bool found = false;
      if (lseek(directory.fd(), 0, SEEK_SET) != 0) {
        return FailOs(errno, "list a directory");
      }
      for (;;) {
        const ssize_t bytes = getdents64(directory.fd(), names->data(), names->size());
        if (bytes < 0) {
          return FailOs(errno, "list a directory");
        }
        if (bytes == 0) {
          break;
        }
        for (ssize_t at = 0; at < bytes;) {
          const auto* entry = reinterpret_cast<const dirent64*>(names->data() + at);
          at += entry->d_reclen;
          const std::string name = entry->d_name;
          if (name == "." || name == "..") {
            continue;
          }
          found = true;
          Left left = Left::kNothing;
          MACO_ASSIGN(left, DeleteEntry(directory, name, depth));
          if (left == Left::kLater) {
            return left;
          }
        }
      }
      if (!found) {
        return Left::kNothing;
      }
    }
    return Fail(Stop(Code::kBusy, name_, "gets new files while it is deleted"));
  }

  Result<Left> DeleteEntry(const Directory& directory, const std::string& name, unsigned depth) {
    struct stat status {};
    if (fstatat(directory.fd(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      return errno == ENOENT ? Result<Left>(Left::kNothing) : FailOs(errno, "look at", name);
    }
    if (S_ISDIR(status.st_mode)) {
      return depth < kMaxDepth ? DeleteDirectory(directory, name, status.st_ino, depth + 1)
                               : MoveUp(directory, name, status.st_ino);
    }
    const bool plain = S_ISREG(status.st_mode) && status.st_nlink == 1;
    if (!plain && names_ == Names::kPlainOnly) {
      return Fail(
          Stop(Code::kRefused, name,
               S_ISREG(status.st_mode) ? "has another name elsewhere" : "is no plain file"));
    }
    if (unlinkat(directory.fd(), name.c_str(), 0) != 0) {
      return errno == ENOENT ? Result<Left>(Left::kNothing) : FailOs(errno, "remove", name);
    }
    ++deleted_.files;
    return Left::kNothing;
  }

  Result<Left> MoveUp(const Directory& directory, const std::string& name, std::uint64_t inode) {
    Directory inner;  // opened up first: a closed directory cannot be moved
    MACO_ASSIGN(inner, Enter(directory, name, inode));
    MACO_TRY(directory.Move(name, quarantine_, PartName(name_, inode), Directory::IfThere::kKeep));
    tops_.push_back({inode, true});
    return ++moved_ < kMaxMoved ? Left::kNothing : Left::kLater;
  }

  const Directory& quarantine_;
  std::string name_;
  Names names_;
  std::uint64_t device_ = 0;
  std::uint64_t mount_ = 0;
  std::vector<Top> tops_;  // the last one is deleted first
  std::size_t moved_ = 0;  // by the one that is being deleted
  Deleted deleted_;
};

}  // namespace

Result<Deleted> DeleteTree(const Directory& quarantine, const std::string& name,
                           std::uint64_t inode, Names names) {
  return Deletion(quarantine, name, names).Run(inode);
}

}  // namespace maco::prune

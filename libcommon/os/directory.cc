// Descriptor-relative file system access.
// Contract: libcommon/os/directory.h.
#include "libcommon/os/directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace maco {
namespace {

constexpr int kDirectoryFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

Result<UniqueFd> OpenBelow(int directory, const std::string& name, int flags, unsigned mode,
                           CrossDevice cross) {
  open_how how{};
  how.flags = static_cast<unsigned>(flags | O_CLOEXEC | O_NOFOLLOW);
  how.mode = mode;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  if (cross == CrossDevice::kRefuse) {
    how.resolve |= RESOLVE_NO_XDEV;
  }
  for (;;) {
    const long fd = syscall(SYS_openat2, directory, name.c_str(), &how, sizeof how);
    if (fd >= 0) {
      return UniqueFd(static_cast<int>(fd));
    }
    if (errno != EINTR && errno != EAGAIN) {  // EAGAIN: a rename raced, see openat2(2)
      return FailOs(errno, "open", name);
    }
  }
}

Result<FileIdentity> StatAt(int directory, const char* name, int flags) {
  struct statx st {};
  if (statx(directory, name, flags | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
            STATX_BASIC_STATS | STATX_MNT_ID, &st) != 0) {
    return FailOs(errno, "stat", name);
  }
  FileIdentity out;
  out.device = makedev(st.stx_dev_major, st.stx_dev_minor);
  out.inode = st.stx_ino;
  out.mount_id = (st.stx_mask & STATX_MNT_ID) != 0 ? st.stx_mnt_id : 0;
  out.mode = st.stx_mode;
  out.uid = st.stx_uid;
  out.gid = st.stx_gid;
  out.links = st.stx_nlink;
  out.size = st.stx_size;
  return out;
}

// The last component of a name, and the directory that it lies in.
class Leaf {
 public:
  static Result<Leaf> Of(int directory, const std::string& name) {
    Leaf out;
    out.fd_ = directory;
    const std::size_t slash = name.rfind('/');
    out.name_ = name.substr(slash + 1);
    if (slash != std::string::npos) {
      MACO_ASSIGN(out.opened_, OpenBelow(directory, name.substr(0, slash), O_PATH | O_DIRECTORY, 0,
                                         CrossDevice::kRefuse));
      out.fd_ = out.opened_.get();
    }
    return out;
  }
  int fd() const { return fd_; }
  const char* name() const { return name_.c_str(); }

 private:
  UniqueFd opened_;
  int fd_ = -1;
  std::string name_;
};

struct CloseDir {
  void operator()(DIR* dir) const { closedir(dir); }
};

}  // namespace

Result<Directory> Directory::OpenPath(const std::string& path) {
  UniqueFd fd(open(path.c_str(), kDirectoryFlags));
  if (!fd.valid()) {
    return FailOs(errno, "open directory", path);
  }
  return Directory(std::move(fd));
}

Result<Directory> Directory::Open(const std::string& name, CrossDevice cross) const {
  UniqueFd fd;
  MACO_ASSIGN(fd, OpenBelow(fd_.get(), name, kDirectoryFlags, 0, cross));
  return Directory(std::move(fd));
}

Result<UniqueFd> Directory::OpenFile(const std::string& name, int flags, unsigned mode) const {
  return OpenBelow(fd_.get(), name, flags, mode, CrossDevice::kRefuse);
}

Result<Directory> Directory::OpenOrCreate(const std::string& name, unsigned mode) const {
  const auto leaf = Leaf::Of(fd_.get(), name);
  if (!leaf) {
    return Fail(leaf.error());
  }
  if (mkdirat(leaf->fd(), leaf->name(), mode) != 0 && errno != EEXIST) {
    return FailOs(errno, "create directory", name);
  }
  return Open(name);
}

Result<Directory> Directory::Create(const std::string& name, unsigned mode) const {
  const auto leaf = Leaf::Of(fd_.get(), name);
  if (!leaf) {
    return Fail(leaf.error());
  }
  if (mkdirat(leaf->fd(), leaf->name(), mode) != 0) {
    return FailOs(errno, "create directory", name);
  }
  return Open(name);
}

Result<void> Directory::Unlink(const std::string& name) const {
  const auto leaf = Leaf::Of(fd_.get(), name);
  if (!leaf) {
    return Fail(leaf.error());
  }
  if (unlinkat(leaf->fd(), leaf->name(), 0) != 0) {
    return FailOs(errno, "remove", name);
  }
  return {};
}

Result<void> Directory::RemoveDirectory(const std::string& name) const {
  const auto leaf = Leaf::Of(fd_.get(), name);
  if (!leaf) {
    return Fail(leaf.error());
  }
  if (unlinkat(leaf->fd(), leaf->name(), AT_REMOVEDIR) != 0) {
    return FailOs(errno, "remove directory", name);
  }
  return {};
}

Result<void> Directory::Rename(const std::string& from, const std::string& to) const {
  const auto source = Leaf::Of(fd_.get(), from);
  const auto target = Leaf::Of(fd_.get(), to);
  if (!source || !target) {
    return Fail(!source ? source.error() : target.error());
  }
  if (renameat(source->fd(), source->name(), target->fd(), target->name()) != 0) {
    return FailOs(errno, "rename to", to);
  }
  return {};
}

Result<void> Directory::Move(const std::string& name, const Directory& to,
                             const std::string& new_name, IfThere if_there) const {
  const unsigned flags = if_there == IfThere::kKeep ? RENAME_NOREPLACE : 0;
  const auto source = Leaf::Of(fd_.get(), name);
  const auto target = Leaf::Of(to.fd(), new_name);
  if (!source || !target) {
    return Fail(!source ? source.error() : target.error());
  }
  if (renameat2(source->fd(), source->name(), target->fd(), target->name(), flags) != 0) {
    return FailOs(errno, "move to", new_name);
  }
  return {};
}

Result<FileIdentity> Directory::Stat(const std::string& name) const {
  const auto leaf = Leaf::Of(fd_.get(), name);
  if (!leaf) {
    return Fail(leaf.error());
  }
  return StatAt(leaf->fd(), leaf->name(), 0);
}

Result<FileIdentity> Directory::Identity() const { return IdentityOf(fd_.get()); }

Result<std::vector<std::string>> Directory::List(std::size_t limit) const {
  // A descriptor of its own: fdopendir takes it over, and the offset is shared with no one.
  const int fd = openat(fd_.get(), ".", kDirectoryFlags);
  if (fd < 0) {
    return FailOs(errno, "open directory for reading");
  }
  const std::unique_ptr<DIR, CloseDir> dir(fdopendir(fd));
  if (!dir) {
    const int saved = errno;
    close(fd);
    return FailOs(saved, "read directory");
  }
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = readdir(dir.get());
    if (entry == nullptr) {
      break;
    }
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
      continue;
    }
    if (names.size() == limit) {
      return Fail(Code::kLimit, "a directory holds more than " + std::to_string(limit) + " names");
    }
    names.emplace_back(entry->d_name);
  }
  if (errno != 0) {
    return FailOs(errno, "read directory");
  }
  return names;
}

Result<void> Directory::Sync() const { return maco::Sync(fd_.get()); }

Result<Directory> Directory::Clone() const {
  UniqueFd fd;
  MACO_ASSIGN(fd, Duplicate(fd_.get()));
  return Directory(std::move(fd));
}

Result<FileIdentity> IdentityOf(int fd) { return StatAt(fd, "", AT_EMPTY_PATH); }

Result<FileIdentity> IdentityOfPath(const std::string& path) {
  return StatAt(AT_FDCWD, path.c_str(), 0);
}

Result<void> RequirePrivateDirectory(const FileIdentity& identity, std::string_view what) {
  const std::string name(what);
  if (!S_ISDIR(identity.mode)) {
    return Fail(Code::kPermission, "'" + name + "' is not a directory");
  }
  if (identity.uid != geteuid() || (identity.mode & 077U) != 0) {
    return Fail(Code::kPermission, "'" + name + "' is not private to you",
                "make it yours alone: chmod 700, chown to your user");
  }
  return {};
}

Result<void> RequirePrivateFile(const FileIdentity& identity, std::string_view what) {
  const std::string name(what);
  if (!S_ISREG(identity.mode)) {
    return Fail(Code::kPermission, "'" + name + "' is not a regular file");
  }
  if (identity.uid != geteuid() || (identity.mode & 077U) != 0) {
    return Fail(Code::kPermission, "'" + name + "' is not private to you",
                "make it yours alone: chmod 600, chown to your user");
  }
  if (identity.links != 1) {
    return Fail(Code::kPermission, "'" + name + "' has another name (hard link)",
                "find it by its inode and remove the other name");
  }
  return {};
}

}  // namespace maco

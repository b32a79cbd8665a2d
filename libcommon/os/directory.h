// Directory: a capability for one directory. Names below it are opened through the descriptor with
// openat2(2), so that no symbolic link, no ".." and no mount point leads elsewhere. Where a call
// takes no descriptor of the thing itself, its parent is opened so, and the last component is
// named.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "libcommon/base/result.h"
#include "libcommon/os/fd.h"
#include "libcommon/os/file_identity.h"

namespace maco {

// Whether a step onto another mounted filesystem is an error.
enum class CrossDevice { kRefuse, kAllow };

class Directory {
 public:
  Directory() = default;
  explicit Directory(UniqueFd fd) : fd_(std::move(fd)) {}

  // Opens an absolute or cwd-relative path, links in ancestors followed: for names that the user
  // gave. Errors: kNotFound, kPermission, kIo (also when it is no directory).
  static Result<Directory> OpenPath(const std::string& path);

  // Opens `name` (may hold slashes) below this directory. Errors: kNotFound, kPermission, kIo
  // (ELOOP or ENOTDIR: a symbolic link, or no directory; EXDEV: another mount or outside).
  Result<Directory> Open(const std::string& name, CrossDevice cross = CrossDevice::kRefuse) const;
  Result<UniqueFd> OpenFile(const std::string& name, int flags, unsigned mode = 0) const;

  // Creates `name` if it is missing, then opens it. Errors: as Open, kExists never.
  Result<Directory> OpenOrCreate(const std::string& name, unsigned mode) const;
  // Creates `name`. Errors: kExists, kPermission, kLimit, kIo.
  Result<Directory> Create(const std::string& name, unsigned mode) const;

  Result<void> Unlink(const std::string& name) const;           // kNotFound, kPermission, kIo
  Result<void> RemoveDirectory(const std::string& name) const;  // must be empty
  Result<void> Rename(const std::string& from, const std::string& to) const;
  // Moves `name` (may hold slashes) to another directory of the same file system. Errors: kExists
  // (only with kKeep), kNotFound, kPermission, kIo.
  enum class IfThere { kReplace, kKeep };
  Result<void> Move(const std::string& name, const Directory& to, const std::string& new_name,
                    IfThere if_there) const;

  // Identity of `name` without following it. Errors: kNotFound, kPermission, kIo.
  Result<FileIdentity> Stat(const std::string& name) const;
  Result<FileIdentity> Identity() const;

  // Names without "." and "..", in no order; kLimit above `limit` names.
  Result<std::vector<std::string>> List(std::size_t limit) const;

  // Flushes the directory itself, which makes names in it durable.
  Result<void> Sync() const;

  int fd() const { return fd_.get(); }
  bool valid() const { return fd_.valid(); }
  Result<Directory> Clone() const;

 private:
  UniqueFd fd_;
};

// Identity of an open descriptor; of what a path names, without following a link at its end.
Result<FileIdentity> IdentityOf(int fd);
Result<FileIdentity> IdentityOfPath(const std::string& path);

// Fails with kPermission unless `identity` is a directory (regular file) that belongs to the
// effective user and is closed to all others; a file must have one link. `what` names it.
Result<void> RequirePrivateDirectory(const FileIdentity& identity, std::string_view what);
Result<void> RequirePrivateFile(const FileIdentity& identity, std::string_view what);

}  // namespace maco

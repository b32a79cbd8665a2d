// Open-file-description locks.
// Contract: libcommon/os/ofd_lock.h.
#include "libcommon/os/ofd_lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace maco {
namespace {

Result<void> Apply(int fd, int command, short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  while (fcntl(fd, command, &lock) != 0) {
    if (errno == EINTR) {
      continue;
    }
    if (errno == EAGAIN || errno == EACCES) {
      return Fail(Code::kBusy, "another process holds the lock");
    }
    return FailOs(errno, "lock a file");
  }
  return {};
}

}  // namespace

Result<void> OfdLock::TryLock(int fd) { return Apply(fd, F_OFD_SETLK, F_WRLCK); }

Result<void> OfdLock::TryLockShared(int fd) { return Apply(fd, F_OFD_SETLK, F_RDLCK); }

Result<void> OfdLock::Lock(int fd) { return Apply(fd, F_OFD_SETLKW, F_WRLCK); }

Result<bool> OfdLock::HeldByOther(int fd) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (fcntl(fd, F_OFD_GETLK, &lock) != 0) {
    return FailOs(errno, "look at a file's lock");
  }
  return lock.l_type != F_UNLCK;
}

Result<UniqueFd> OfdLock::OpenLocked(const Directory& directory, const std::string& name, int flags,
                                     unsigned mode, bool wait) {
  constexpr int kAttempts = 16;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    UniqueFd fd;
    MACO_ASSIGN(fd, directory.OpenFile(name, flags, mode));
    MACO_TRY(wait ? Lock(fd.get()) : TryLock(fd.get()));
    FileIdentity held;
    MACO_ASSIGN(held, IdentityOf(fd.get()));
    const auto named = directory.Stat(name);
    if (named && named->SameFile(held)) {
      return fd;
    }
  }
  return Fail(Code::kBusy, "'" + name + "' is being replaced again and again");
}

}  // namespace maco

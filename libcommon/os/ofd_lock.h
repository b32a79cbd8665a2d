// OfdLock: an exclusive open-file-description lock on a whole file, held as long as the object.
// It also excludes other threads and other descriptors of the same process. Source: fcntl(2).
#pragma once
#include "libcommon/base/result.h"
#include "libcommon/os/directory.h"
#include "libcommon/os/fd.h"

namespace maco {

class OfdLock {
 public:
  // Locks the open file `fd` (opened for writing) at once. The caller keeps `fd` open as long as
  // the lock shall last. Errors: kBusy, kIo.
  static Result<void> TryLock(int fd);

  // A lock that several may hold together, but not beside an exclusive one. Errors: kBusy, kIo.
  static Result<void> TryLockShared(int fd);

  // Waits for the lock. Errors: kIo.
  static Result<void> Lock(int fd);

  // Whether another open file description holds a lock on `fd`'s file (opened in any way). A look,
  // not a promise: it may change at once. Errors: kIo.
  static Result<bool> HeldByOther(int fd);

  // Opens `name` in `directory`, locks it, and checks that the name still leads to the locked inode
  // (a file that was replaced while we waited is opened again). Errors: kBusy (only if !wait),
  // those of opening, kIo.
  static Result<UniqueFd> OpenLocked(const Directory& directory, const std::string& name, int flags,
                                     unsigned mode, bool wait);
};

}  // namespace maco

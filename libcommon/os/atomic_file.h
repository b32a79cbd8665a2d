// AtomicFile: a new file under a temporary name that Commit() publishes durably, or nobody sees.
// Order: write, fsync file, rename, fsync directory. The destructor removes what was not committed.
#pragma once
#include <span>
#include <string>

#include "libcommon/base/result.h"
#include "libcommon/os/directory.h"

namespace maco {

class AtomicFile {
 public:
  // Creates a temporary beside `name`, mode 0600. `directory` must outlive the object.
  // Errors: kPermission, kLimit, kIo.
  static Result<AtomicFile> Create(const Directory& directory, std::string name);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  int fd() const { return fd_.get(); }
  // Replaces what has the name. After kIo or kLimit nothing was published, unless the failure was
  // that of the last flush: then the new file is in place and its durability unknown.
  Result<void> Commit();
  // As Commit, but fails with kExists when the name is taken.
  Result<void> CommitNew();

 private:
  AtomicFile(const Directory& directory, std::string name, std::string temporary, UniqueFd fd);
  const Directory* directory_;
  std::string name_;
  std::string temporary_;  // empty when nothing is left to remove
  UniqueFd fd_;
};

// Creates or replaces `name` with `bytes`, durably.
Result<void> WriteAtomically(const Directory& directory, const std::string& name,
                             std::span<const std::uint8_t> bytes);

}  // namespace maco

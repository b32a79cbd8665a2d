// Durable publication of a whole file.
// Contract: libcommon/os/atomic_file.h.
#include "libcommon/os/atomic_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "libcommon/base/random_id.h"

namespace maco {

AtomicFile::AtomicFile(const Directory& directory, std::string name, std::string temporary,
                       UniqueFd fd)
    : directory_(&directory),
      name_(std::move(name)),
      temporary_(std::move(temporary)),
      fd_(std::move(fd)) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : directory_(other.directory_),
      name_(std::move(other.name_)),
      temporary_(std::exchange(other.temporary_, {})),
      fd_(std::move(other.fd_)) {}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) {
    unlinkat(directory_->fd(), temporary_.c_str(), 0);
  }
}

Result<AtomicFile> AtomicFile::Create(const Directory& directory, std::string name) {
  std::string id;
  MACO_ASSIGN(id, RandomId());
  std::string temporary = ".tmp-" + id;
  UniqueFd fd;
  MACO_ASSIGN(fd, directory.OpenFile(temporary, O_RDWR | O_CREAT | O_EXCL, 0600));
  return AtomicFile(directory, std::move(name), std::move(temporary), std::move(fd));
}

Result<void> AtomicFile::Commit() {
  MACO_TRY(Sync(fd_.get()));
  MACO_TRY(directory_->Rename(temporary_, name_));
  temporary_.clear();
  return directory_->Sync();
}

Result<void> AtomicFile::CommitNew() {
  MACO_TRY(Sync(fd_.get()));
  if (renameat2(directory_->fd(), temporary_.c_str(), directory_->fd(), name_.c_str(),
                RENAME_NOREPLACE) != 0) {
    return FailOs(errno, "create", name_);
  }
  temporary_.clear();
  return directory_->Sync();
}

Result<void> WriteAtomically(const Directory& directory, const std::string& name,
                             std::span<const std::uint8_t> bytes) {
  auto file = AtomicFile::Create(directory, name);
  if (!file) {
    return Fail(std::move(file).error());
  }
  MACO_TRY(WriteAll(file->fd(), bytes));
  return file->Commit();
}

}  // namespace maco

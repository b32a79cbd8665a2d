// UniqueFd: owns one descriptor; full reads and writes that survive EINTR and short counts.
// A raw int in a signature is always borrowed. All descriptors of ours are close-on-exec.
#pragma once
#include <cstdint>
#include <span>
#include <utility>

#include "libcommon/base/result.h"

namespace maco {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) {
      Reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { Reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int Release() { return std::exchange(fd_, -1); }
  void Reset();

 private:
  int fd_ = -1;
};

struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;
};

// Opens /dev/null as each of the descriptors 0, 1 and 2 that is closed, so that no file of ours
// gets such a number and is read as input or written to as a terminal. First call of every main.
// Errors: kNotFound, kPermission, kLimit, kIo.
Result<void> ClaimStandardDescriptors();

// Errors: kLimit, kIo.
Result<Pipe> MakePipe();
Result<UniqueFd> Duplicate(int fd);

// Writes all of `bytes`, or fails: kLimit (disk full), kIo. EPIPE is kIo; SIGPIPE is the caller's.
Result<void> WriteAll(int fd, std::span<const std::uint8_t> bytes);
Result<void> PwriteAll(int fd, std::span<const std::uint8_t> bytes, std::uint64_t offset);

// Reads up to the size of `out`, stopping early only at end of file. Returns the count.
Result<std::size_t> ReadFull(int fd, std::span<std::uint8_t> out);
Result<std::size_t> PreadFull(int fd, std::span<std::uint8_t> out, std::uint64_t offset);

// fsync(2) and fdatasync(2). After a failure the file must not be trusted again: see fsync(2),
// NOTES.
Result<void> Sync(int fd);
Result<void> SyncData(int fd);
// Flushes everything of the file system that `fd` is on. Source: syncfs(2).
Result<void> SyncFileSystem(int fd);

}  // namespace maco

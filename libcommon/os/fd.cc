// Descriptor ownership, full reads and writes, flushes.
// Contract: libcommon/os/fd.h.
#include "libcommon/os/fd.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace maco {
namespace {

template <typename Call>
Result<void> WriteLoop(std::span<const std::uint8_t> bytes, Call call) {
  while (!bytes.empty()) {
    const ssize_t n = call(bytes);
    if (n < 0) {
      if (errno == EINTR) {
        continue;
      }
      return FailOs(errno, "write");
    }
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return {};
}

template <typename Call>
Result<std::size_t> ReadLoop(std::span<std::uint8_t> out, Call call) {
  std::size_t count = 0;
  while (count < out.size()) {
    const ssize_t n = call(out.subspan(count));
    if (n < 0) {
      if (errno == EINTR) {
        continue;
      }
      return FailOs(errno, "read");
    }
    if (n == 0) {
      break;
    }
    count += static_cast<std::size_t>(n);
  }
  return count;
}

}  // namespace

void UniqueFd::Reset() {
  if (fd_ >= 0) {
    // close(2) must not be retried on Linux; what had to be durable was flushed before.
    close(fd_);
    fd_ = -1;
  }
}

Result<void> ClaimStandardDescriptors() {
  int fd = -1;
  do {
    // The lowest free number; not close-on-exec, as the standard descriptors are not.
    fd = open("/dev/null", O_RDWR);
    if (fd < 0) {
      return FailOs(errno, "open", "/dev/null");
    }
  } while (fd <= STDERR_FILENO);
  close(fd);
  return {};
}

Result<Pipe> MakePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return FailOs(errno, "create a pipe");
  }
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

Result<UniqueFd> Duplicate(int fd) {
  UniqueFd copy(fcntl(fd, F_DUPFD_CLOEXEC, 3));
  if (!copy.valid()) {
    return FailOs(errno, "duplicate a descriptor");
  }
  return copy;
}

Result<void> WriteAll(int fd, std::span<const std::uint8_t> bytes) {
  return WriteLoop(bytes, [fd](auto rest) { return write(fd, rest.data(), rest.size()); });
}

Result<void> PwriteAll(int fd, std::span<const std::uint8_t> bytes, std::uint64_t offset) {
  return WriteLoop(bytes, [fd, &offset](auto rest) {
    const ssize_t n = pwrite(fd, rest.data(), rest.size(), static_cast<off_t>(offset));
    offset += n > 0 ? static_cast<std::uint64_t>(n) : 0;
    return n;
  });
}

Result<std::size_t> ReadFull(int fd, std::span<std::uint8_t> out) {
  return ReadLoop(out, [fd](auto rest) { return read(fd, rest.data(), rest.size()); });
}

Result<std::size_t> PreadFull(int fd, std::span<std::uint8_t> out, std::uint64_t offset) {
  return ReadLoop(out, [fd, &offset](auto rest) {
    const ssize_t n = pread(fd, rest.data(), rest.size(), static_cast<off_t>(offset));
    offset += n > 0 ? static_cast<std::uint64_t>(n) : 0;
    return n;
  });
}

Result<void> Sync(int fd) {
  if (fsync(fd) != 0) {
    return FailOs(errno, "flush to disk");
  }
  return {};
}

Result<void> SyncData(int fd) {
  if (fdatasync(fd) != 0) {
    return FailOs(errno, "flush to disk");
  }
  return {};
}

Result<void> SyncFileSystem(int fd) {
  if (syncfs(fd) != 0) {
    return FailOs(errno, "flush a file system");
  }
  return {};
}

}  // namespace maco

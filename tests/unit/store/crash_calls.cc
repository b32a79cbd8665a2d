// Replaces pwrite, write, flushes, renames, removals and mkdir; undoes what was not flushed.
// Contract: tests/unit/store/crash_calls.h.
#include "tests/unit/store/crash_calls.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace maco {

bool armed = false;
Cut cut = Cut::kKill;
int calls_left = 0;
bool skip_file_flush = false;
bool skip_directory_flush = false;

namespace {

// How to take back one change that is not flushed yet.
struct Unflushed {
  dev_t device;
  ino_t inode;  // of the file, or of the directory for a change of names
  std::function<void()> undo;
};

std::vector<Unflushed> unflushed;

struct stat StatOf(int fd) {
  struct stat st {};
  fstat(fd, &st);
  return st;
}

std::string Contents(int fd) {
  std::string out(static_cast<std::size_t>(StatOf(fd).st_size), '\0');
  const ssize_t n = pread(fd, out.data(), out.size(), 0);
  out.resize(n < 0 ? 0 : static_cast<std::size_t>(n));
  return out;
}

void Recreate(int directory, const std::string& name, const std::string& contents) {
  syscall(SYS_unlinkat, directory, name.c_str(), 0);
  const int fd = static_cast<int>(
      syscall(SYS_openat, directory, name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  syscall(SYS_pwrite64, fd, contents.data(), contents.size(), 0);
  close(fd);
}

[[noreturn]] void Die(int seed) {
  armed = false;
  std::minstd_rand random(static_cast<unsigned>(seed));
  for (; !unflushed.empty(); unflushed.pop_back()) {
    if (cut == Cut::kLoseAll || (cut == Cut::kLoseSome && random() % 2 == 0)) {
      unflushed.back().undo();
    }
  }
  _exit(kDied);
}

// Before each call; `half` writes the first part of what the call would write.
void Count(const std::function<void()>& half = nullptr) {
  if (armed && calls_left-- == 0) {
    if (cut == Cut::kHalf && half) {
      half();
    }
    Die(static_cast<int>(unflushed.size()) + 1);
  }
}

bool Recording() { return armed && (cut == Cut::kLoseAll || cut == Cut::kLoseSome); }

void Remember(int fd, std::function<void()> undo) {
  const struct stat st = StatOf(fd);
  unflushed.push_back({st.st_dev, st.st_ino, std::move(undo)});
}

void RememberWrite(int fd, std::uint64_t offset, std::size_t size) {
  if (!Recording()) {
    return;
  }
  std::string before(size, '\0');  // zeros beyond the end
  const ssize_t ignored =
      syscall(SYS_pread64, fd, before.data(), before.size(), static_cast<off_t>(offset));
  static_cast<void>(ignored);
  const int copy = dup(fd);
  Remember(fd, [copy, before, offset] {
    syscall(SYS_pwrite64, copy, before.data(), before.size(), static_cast<off_t>(offset));
  });
}

int Flush(int fd, bool skip) {
  Count();
  const struct stat st = StatOf(fd);
  if (!skip) {
    std::erase_if(unflushed, [&](const Unflushed& one) {
      return one.device == st.st_dev && one.inode == st.st_ino;
    });
  }
  return 0;  // nothing here survives the test, and it saves the time
}

std::size_t HalfOf(std::size_t size) { return size / 2 / 512 * 512; }

int Rename(int from_dir, const char* from, int to_dir, const char* to, unsigned flags) {
  Count();
  if (Recording()) {
    const int old =
        static_cast<int>(syscall(SYS_openat, to_dir, to, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0));
    const std::string before = old < 0 ? "" : Contents(old);
    const std::string source = from;
    const std::string target = to;
    Remember(to_dir, [=] {
      syscall(SYS_renameat2, to_dir, target.c_str(), from_dir, source.c_str(), 0);
      if (old >= 0) {
        Recreate(to_dir, target, before);
      }
    });
  }
  return static_cast<int>(syscall(SYS_renameat2, from_dir, from, to_dir, to, flags));
}

}  // namespace
}  // namespace maco

extern "C" ssize_t pwrite(int fd, const void* data, size_t size, off_t offset) {
  maco::Count([&] { syscall(SYS_pwrite64, fd, data, maco::HalfOf(size), offset); });
  maco::RememberWrite(fd, static_cast<std::uint64_t>(offset), size);
  return syscall(SYS_pwrite64, fd, data, size, offset);
}
extern "C" ssize_t pwrite64(int fd, const void* data, size_t size, off_t offset) {
  return pwrite(fd, data, size, offset);
}
extern "C" ssize_t write(int fd, const void* data, size_t size) {
  maco::Count([&] { syscall(SYS_write, fd, data, maco::HalfOf(size)); });
  if (maco::Recording()) {
    maco::RememberWrite(fd, static_cast<std::uint64_t>(lseek(fd, 0, SEEK_CUR)), size);
  }
  return syscall(SYS_write, fd, data, size);
}
extern "C" int fdatasync(int fd) { return maco::Flush(fd, maco::skip_file_flush); }
extern "C" int fsync(int fd) {
  const bool directory = S_ISDIR(maco::StatOf(fd).st_mode);
  return maco::Flush(fd, directory ? maco::skip_directory_flush : maco::skip_file_flush);
}
extern "C" int renameat(int from_dir, const char* from, int to_dir, const char* to) noexcept {
  return maco::Rename(from_dir, from, to_dir, to, 0);
}
extern "C" int renameat2(int from_dir, const char* from, int to_dir, const char* to,
                         unsigned flags) noexcept {
  return maco::Rename(from_dir, from, to_dir, to, flags);
}
extern "C" int unlinkat(int directory, const char* name, int flags) noexcept {
  maco::Count();
  if (maco::Recording()) {
    const int old = static_cast<int>(
        syscall(SYS_openat, directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0));
    if (old >= 0) {
      const std::string before = maco::Contents(old);
      const std::string target = name;
      maco::Remember(directory, [=] { maco::Recreate(directory, target, before); });
    }
  }
  return static_cast<int>(syscall(SYS_unlinkat, directory, name, flags));
}
extern "C" int mkdirat(int directory, const char* name, mode_t mode) noexcept {
  maco::Count();
  return static_cast<int>(syscall(SYS_mkdirat, directory, name, mode));
}

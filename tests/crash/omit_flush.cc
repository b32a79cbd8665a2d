// Linked into append-driver-omits: leaves out the flush whose number is in OMIT, counted from 1.
// A control for the power-cut test: each flush left out must be noticed.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

namespace {

int Flush(long call, int fd) {
  static long count = 0;
  const char* omit = getenv("OMIT");
  if (omit != nullptr && ++count == strtol(omit, nullptr, 10)) {
    return 0;
  }
  return static_cast<int>(syscall(call, fd));
}

}  // namespace

extern "C" int fsync(int fd) { return Flush(SYS_fsync, fd); }
extern "C" int fdatasync(int fd) { return Flush(SYS_fdatasync, fd); }

// Uses descriptors that it inherited: any beyond the three, and the files behind the three.
// Frame: tests/hostile/attempt.h.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "tests/hostile/attempt.h"

namespace {

using hostile::CloseAfter;
using hostile::Outcome;

int Extra() {
  constexpr int kMost = 4096;
  for (int fd = 3; fd < kMost; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) {
      return 0;
    }
  }
  return EBADF;
}

// The descriptor is the user's own file, not a pipe, and can be opened again for writing.
int Reopen(int fd) {
  struct stat st {};
  if (fstat(fd, &st) != 0) {
    return errno;
  }
  if (!S_ISREG(st.st_mode)) {
    return ESPIPE;
  }
  return hostile::WriteTo("/proc/self/fd/" + std::to_string(fd));
}

int Seek(int fd) { return Outcome(lseek(fd, 0, SEEK_SET)); }

int OfGuardian(int fd) {
  const std::string path = "/proc/1/fd/" + std::to_string(fd);
  return CloseAfter(open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
}

}  // namespace

int main(int argc, char** argv) {
  return hostile::RunAttempts(argc, argv,
                              {
                                  {"extra", Extra},
                                  {"reopen-input", [] { return Reopen(0); }},
                                  {"reopen-error", [] { return Reopen(2); }},
                                  {"rewind-input", [] { return Seek(0); }},
                                  {"guardian-0", [] { return OfGuardian(0); }},
                                  {"guardian-control", [] { return OfGuardian(3); }},
                                  {"guardian-pipe", [] { return OfGuardian(5); }},
                              });
}

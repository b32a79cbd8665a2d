// Ways not to wait, by the kind of the stream.
// Contract: maco-run/supervise/stream_end.h.
#include "maco-run/supervise/stream_end.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

namespace maco::run {
namespace {

// A pipe that is ready for writing takes this much without blocking, see pipe(7), PIPE_BUF.
constexpr std::size_t kWriteBytes = 4096;

// The master side of a terminal: opened by its name, it would be another terminal.
bool IsMaster(int fd) {
  unsigned number = 0;
  return ioctl(fd, TIOCGPTN, &number) == 0;
}

bool Ready(int fd, short events) {
  pollfd set{fd, events, 0};
  return poll(&set, 1, 0) > 0;
}

}  // namespace

StreamEnd::StreamEnd(int fd, Use use) : fd_(fd) { Classify(use); }

void StreamEnd::Classify(Use use) {
  struct stat st {};
  if (fd_ < 0 || fstat(fd_, &st) != 0) {
    return;
  }
  if (S_ISSOCK(st.st_mode)) {
    kind_ = Kind::kSocket;
    return;
  }
  if (!S_ISFIFO(st.st_mode) && isatty(fd_) != 1) {
    return;
  }
  kind_ = Kind::kBlocking;
  if (S_ISCHR(st.st_mode) && IsMaster(fd_)) {
    return;
  }
  const std::string link = "/proc/self/fd/" + std::to_string(fd_);
  const int access = use == Use::kRead ? O_RDONLY : O_WRONLY;
  own_ = UniqueFd(open(link.c_str(), access | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  kind_ = own_.valid() ? Kind::kOwn : Kind::kBlocking;
}

ssize_t StreamEnd::Read(std::span<std::uint8_t> out) const {
  if (kind_ == Kind::kSocket) {
    return recv(fd_, out.data(), out.size(), MSG_DONTWAIT);
  }
  if (kind_ == Kind::kBlocking && !Ready(fd_, POLLIN)) {
    errno = EAGAIN;
    return -1;
  }
  return read(fd(), out.data(), out.size());
}

ssize_t StreamEnd::Write(std::span<const std::uint8_t> bytes) const {
  bytes = bytes.first(std::min(kWriteBytes, bytes.size()));
  if (kind_ == Kind::kSocket) {
    return send(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  }
  if (kind_ == Kind::kBlocking) {
    if (!Ready(fd_, POLLOUT)) {
      errno = EAGAIN;
      return -1;
    }
    bytes = bytes.first(std::min<std::size_t>(1, bytes.size()));
  }
  return write(fd(), bytes.data(), bytes.size());
}

}  // namespace maco::run

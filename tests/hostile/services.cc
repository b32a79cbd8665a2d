// Connects to the sockets of services. usage: services PATH...; each path is an attempt.
// Frame: tests/hostile/attempt.h.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tests/hostile/attempt.h"

namespace {

int Connect(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (fd < 0) {
    return errno;
  }
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int result =
      hostile::Outcome(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address));
  close(fd);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<hostile::Attempt> attempts;
  for (int i = 1; i < argc; ++i) {
    const std::string path = argv[i];
    attempts.push_back({path, [path] { return Connect(path); }});
  }
  return hostile::RunAttempts(argc, argv, attempts);
}

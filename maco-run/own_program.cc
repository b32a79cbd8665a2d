// The directory of our own executable.
// Contract: maco-run/own_program.h.
#include "maco-run/own_program.h"

#include <unistd.h>

#include <array>
#include <cerrno>

namespace maco::run {

Result<std::string> OwnProgram(const std::string& name) {
  std::array<char, 4096> path{};
  const ssize_t n = readlink("/proc/self/exe", path.data(), path.size());
  if (n <= 0 || static_cast<std::size_t>(n) == path.size()) {
    return FailOs(errno, "find maco-run's own path");
  }
  std::string self(path.data(), static_cast<std::size_t>(n));
  self = self.substr(0, self.rfind('/')) + "/" + name;
  if (access(self.c_str(), X_OK) != 0) {
    return FailOs(errno, "find our own program", self);
  }
  return self;
}

}  // namespace maco::run

// Capped reading of files of any kind.
// Contract: libcommon/os/bounded_read.h.
#include "libcommon/os/bounded_read.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "libcommon/os/fd.h"

namespace maco {
namespace {

constexpr std::size_t kFirstChunkBytes = 4096;  // of most files that is all
constexpr std::size_t kChunkBytes = 65536;

tl::unexpected<Error> TooBig(std::size_t limit) {
  return Fail(Code::kLimit, "input is larger than " + std::to_string(limit) + " bytes");
}

}  // namespace

Result<std::string> ReadAll(int fd, std::size_t limit) {
  std::string out;
  for (;;) {
    const std::size_t before = out.size();
    // One byte more than allowed, so that "exactly the limit" and "more" differ.
    const std::size_t want =
        std::min(before == 0 ? kFirstChunkBytes : kChunkBytes, limit + 1 - before);
    out.resize(before + want);
    const ssize_t n = read(fd, out.data() + before, want);
    if (n < 0) {
      if (errno == EINTR) {
        out.resize(before);
        continue;
      }
      return FailOs(errno, "read");
    }
    out.resize(before + static_cast<std::size_t>(n));
    if (n == 0) {
      return out;
    }
    if (out.size() > limit) {
      return TooBig(limit);
    }
  }
}

Result<Bytes> ReadAllAt(int fd, std::size_t limit) {
  Bytes out;
  for (;;) {
    const std::size_t before = out.size();
    const std::size_t want = std::min(kChunkBytes, limit + 1 - before);
    out.resize(before + want);
    std::size_t got = 0;
    MACO_ASSIGN(got, PreadFull(fd, std::span(out).subspan(before), before));
    out.resize(before + got);
    if (out.size() > limit) {
      return TooBig(limit);
    }
    if (got < want) {
      return out;
    }
  }
}

Result<std::string> ReadPath(const std::string& path, std::size_t limit) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!fd.valid()) {
    return FailOs(errno, "open", path);
  }
  return ReadAll(fd.get(), limit);
}

}  // namespace maco

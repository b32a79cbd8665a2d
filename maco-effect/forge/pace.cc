// A locked file whose modification time is that of the last mutation.
// Contract: maco-effect/forge/pace.h.
#include "maco-effect/forge/pace.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <chrono>
#include <thread>

#include <unistd.h>

#include "libcommon/base/text.h"
#include "libcommon/effect/effect_log.h"
#include "libcommon/os/ofd_lock.h"

namespace maco::effect {
namespace {

using Wall = std::chrono::system_clock;
constexpr std::chrono::milliseconds kBetween{1000};

}  // namespace

Result<Pace> Pace::Take(const StateRoot& state, const std::string& origin) {
  Directory directory;
  MACO_ASSIGN(directory, OpenEffectDirectory(state));
  const std::string name = "pace-" + ToHex(Sha256(AsBytes(origin))).substr(0, 16);
  UniqueFd fd;
  MACO_ASSIGN(fd, OfdLock::OpenLocked(directory, name, O_RDWR | O_CREAT, 0600, true));
  struct stat status {};
  if (fstat(fd.get(), &status) == 0 && status.st_size != 0) {
    const auto last = Wall::from_time_t(status.st_mtim.tv_sec) +
                      std::chrono::duration_cast<Wall::duration>(
                          std::chrono::nanoseconds(status.st_mtim.tv_nsec));
    const auto passed = Wall::now() - last;
    // A clock that was put back does not make us wait for years.
    if (passed < kBetween && passed > -kBetween) {
      std::this_thread::sleep_for(kBetween - passed);
    }
  }
  return Pace(std::move(fd));
}

void Pace::Sent() {
  // Its size says that there was one; a write sets the time too. One that fails only hastens.
  [[maybe_unused]] const ssize_t written = pwrite(fd_.get(), "x", 1, 0);
}

}  // namespace maco::effect

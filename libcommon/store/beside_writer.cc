// Looks at lock and locator once more.
// Contract: libcommon/store/beside_writer.h.
#include "libcommon/store/beside_writer.h"

#include <fcntl.h>
#include <time.h>

#include "libcommon/os/ofd_lock.h"
#include "libcommon/store/store_directory.h"
#include "libcommon/store/store_name.h"

namespace maco {
namespace {

bool WriterActive(const Directory& directory) {
  const auto fd = directory.OpenFile(kStoreLockName, O_RDONLY | O_NONBLOCK);
  if (!fd) {
    return false;
  }
  const auto held = OfdLock::HeldByOther(fd->get());
  return held && *held;
}

}  // namespace

bool WorthRetrying(const Directory& directory, const std::string& store,
                   const std::optional<std::string>& before, int attempt) {
  if (attempt + 1 >= kReadAttempts) {
    return false;
  }
  const auto now = ReadLocatorText(directory, store);
  const bool moved = !now || *now != before;
  if (attempt > 0 && !moved && !WriterActive(directory)) {
    return false;
  }
  const timespec pause{0, 1'000'000};
  nanosleep(&pause, nullptr);
  return true;
}

}  // namespace maco

// One write, by a process that is its owner's for that long.
// Contract: maco-run/guardian/oom_victim.h.
#include "maco-run/guardian/oom_victim.h"

#include <fcntl.h>
#include <sys/prctl.h>

#include <cerrno>
#include <string>

#include "libcommon/base/byte_codec.h"
#include "libcommon/os/fd.h"
#include "maco-run/guardian/control.h"

namespace maco::run {
namespace {

// What a process that is not dumpable has in /proc belongs to root, see proc(5).
void SetDumpable(unsigned long dumpable) {
  if (prctl(PR_SET_DUMPABLE, dumpable) != 0) {
    FailSetup("set whether other processes reach this one", errno);
  }
}

}  // namespace

void PreferAsVictim(int oom_score) {
  SetDumpable(1);
  const UniqueFd fd(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (!fd.valid()) {
    FailSetup("open /proc/self/oom_score_adj", errno);
  }
  if (auto written = WriteAll(fd.get(), AsBytes(std::to_string(oom_score))); !written) {
    FailSetup("write /proc/self/oom_score_adj", written.error());
  }
  SetDumpable(0);
}

}  // namespace maco::run

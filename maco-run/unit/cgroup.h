// The unit's cgroup through one pinned directory descriptor: limits, counters, emptiness.
// Source: Documentation/admin-guide/cgroup-v2.rst of the kernel, cgroups(7).
#pragma once
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "libcommon/base/result.h"
#include "libcommon/os/directory.h"

namespace maco::run {

// What cgroup.events says through the descriptor that was opened before release.
enum class Population { kPopulated, kEmpty, kRemoved };

class Cgroup {
 public:
  // Whether /sys/fs/cgroup is cgroup v2 as a whole. Errors: kUnsupported, with what is there.
  static Result<void> RequireUnified();

  // Pins the directory of `control_group`, a path below the cgroup root, and opens cgroup.events.
  // Errors: kUnsupported, kNotFound, kIo.
  static Result<Cgroup> Pin(const std::string& control_group);

  // One value file without its newline. Errors: kNotFound (a controller is missing), kIo.
  Result<std::string> Read(const std::string& file) const;

  Result<std::vector<pid_t>> Processes() const;  // cgroup.procs; kIo

  // kRemoved: the directory is gone, which the kernel allows only to an empty cgroup.
  Result<Population> Populated() const;

  // Becomes ready for poll(2), POLLPRI, at each change of cgroup.events; not at its removal.
  int events_fd() const { return events_.get(); }

  // A file for repeated reading and poll(2), POLLPRI (memory.events, pids.events). Errors: as Read.
  Result<UniqueFd> Open(const std::string& file) const;

  // Stops every process inside, or lets them go on; returns when all are stopped. Errors: kTimeout,
  // kIo.
  Result<void> Freeze(bool frozen) const;

  // Kills every process inside. Errors: kIo. A cgroup that is gone is no error.
  Result<void> Kill() const;

 private:
  Directory directory_;
  UniqueFd events_;
};

}  // namespace maco::run

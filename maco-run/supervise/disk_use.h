// How much disk a run has taken: what its writable roots grew by, and what its private directories
// hold (RUN-14). Sizes are allocated bytes, as du(1) counts them.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "libcommon/base/result.h"
#include "libcommon/os/directory.h"
#include "maco-run/spec/run_spec.h"
#include "maco-run/supervise/nameless_files.h"

namespace maco::run {

class DiskUse {
 public:
  // Before release: measures the writable roots, and opens the private directories of `target` (its
  // number outside) through /proc/PID/root. Errors: kPermission, kIo.
  static Result<DiskUse> Open(const RunSpec& spec, pid_t target);

  // An upper bound that costs a few system calls: all that was taken from the roots' file systems
  // since the last Measure(), by whomever, counts as the run's.
  std::uint64_t Estimate() const;

  // Walks the roots. Files without a name count too, as long as one of `processes` (the guardian
  // and its init are left out) holds them. What vanishes meanwhile is not counted. Where something
  // cannot be looked at (a directory that is closed or too deep, see also NamelessFiles), all that
  // was taken from the roots' file systems since the start counts as the run's. Nothing if it was
  // broken off.
  std::optional<std::uint64_t> Measure(const std::vector<pid_t>& processes, const Breath& breath);

 private:
  struct Root {
    Directory directory;
    dev_t device = 0;
    std::uint64_t at_start = 0;
    bool first = true;                 // of those on its file system
    std::uint64_t taken_at_start = 0;  // from its file system
    std::uint64_t taken_then = 0;      // from its file system, at the last Measure()
  };
  std::uint64_t Private() const;
  void Rebase();

  std::vector<Root> roots_;
  std::vector<UniqueFd> private_;
  std::vector<pid_t> trusted_;
  std::uint64_t grown_ = 0;  // of the roots, at the last Measure()
};

}  // namespace maco::run

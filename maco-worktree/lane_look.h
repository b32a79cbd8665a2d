// One look at all that lies in a lane: what no candidate can hold, and what is not as our index has
// it (WT-03). Nothing is followed and nothing is read. Errors: kPermission, kIo.
#pragma once

#include <sys/stat.h>

#include <string>
#include <vector>

#include "libcommon/base/result.h"
#include "maco-worktree/base_index.h"

namespace maco::worktree {

struct Finding {
  std::string path;  // below the lane; empty: of the lane as a whole
  std::string what;  // "is a FIFO"
};

// A file or a link, or a directory that the base does not have.
struct Seen {
  std::string path;   // of a directory it ends in '/'
  struct stat st {};  // of a directory: zeros
  bool operator==(const Seen& other) const;
};

struct Look {
  std::vector<Finding> findings;  // each of them taints; then the rest is incomplete
  std::vector<Seen> changed;      // in the index, but not as it was: all three sorted by path
  std::vector<Seen> fresh;        // not in the index
  std::vector<std::string> gone;  // only in the index; a submodule that is not checked out is not
  timespec began{};               // by the clock that file systems take their times from
};

inline constexpr std::uint64_t kLargeFileBytes = std::uint64_t{64} << 20U;

// `nothing_believed`: every file of the index counts as changed.
Result<Look> LookAtLane(const std::string& path, const BaseIndex& index, bool nothing_believed);

// Whether a change after this look would show in a second one: not if a file is as young as the
// look, since the times of files are coarse. `files`: those that count.
bool ShowsChanges(const Look& look, const std::vector<const Seen*>& files);

// Waits, a second at most, until the next change of each would give it another time.
void WaitUntilOlder(const std::vector<const Seen*>& files);

}  // namespace maco::worktree

// Looks through a lane for what no candidate can hold, before git is run on it (WT-03).
// Nothing is followed and nothing is read. Errors: kPermission, kIo.
#pragma once

#include <string>
#include <vector>

#include "libcommon/base/result.h"

namespace maco::worktree {

struct Finding {
  std::string path;  // below the lane; empty: of the lane as a whole
  std::string what;  // "is a FIFO"
};

struct Inspection {
  std::vector<Finding> findings;         // each of them taints
  std::vector<std::string> large_files;  // above `large_bytes`
  std::uint64_t entries = 0;
};

inline constexpr std::uint64_t kLargeFileBytes = std::uint64_t{64} << 20U;

Result<Inspection> InspectLane(const std::string& path);

}  // namespace maco::worktree

// One pass over all roots of a run (RUN-06).
#pragma once
#include <string>
#include <vector>

#include "libcommon/base/result.h"
#include "libcommon/os/tree_scan.h"
#include "maco-run/spec/run_spec.h"

namespace maco::run {

// Paths are sorted.
struct RootScan {
  ScanFindings seen;                         // in all roots, and below the git directories
  std::vector<std::string> git_entries;      // in writable roots
  std::vector<std::string> git_directories;  // in writable roots
};

// Errors: those of ScanTree, kRefused (a hard link out of the writable roots).
Result<RootScan> ScanRoots(const RunSpec& spec);

}  // namespace maco::run

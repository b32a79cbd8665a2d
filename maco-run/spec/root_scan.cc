// The trees that are scanned: roots, and repositories inside git directories.
// Contract: maco-run/spec/root_scan.h.
#include "maco-run/spec/root_scan.h"

#include <algorithm>

#include "libcommon/base/text.h"
#include "libcommon/os/mountinfo.h"

namespace maco::run {
namespace {

// Whether a scan of another root meets it.
bool IsScanned(const RunSpec& spec, const std::string& path) {
  return std::ranges::any_of(
      spec.roots, [&](const auto& root) { return root.scan && PathIsWithin(path, root.path); });
}

// Submodules keep their git directories, and so their state, in that of the repository around them
// or in that of the linked worktree.
Result<void> ScanModules(const Root& root, const ScanLimits& limits, ScanFindings& seen) {
  for (const char* name : {"modules", "worktrees"}) {
    const auto directory = root.directory.Open(name);
    if (directory) {
      MACO_TRY(ScanTree(*directory, root.path + "/" + name, limits, seen, nullptr));
    }
  }
  return {};
}

}  // namespace

Result<RootScan> ScanRoots(const RunSpec& spec) {
  RootScan scan;
  WritableFindings findings;
  const ScanLimits limits{.entries = spec.limits.scan_entries};
  for (const auto& root : spec.roots) {
    if (root.scan) {
      MACO_TRY(ScanTree(root.directory, root.path, limits, scan.seen,
                        root.writable ? &findings : nullptr));
    } else if (root.directory.valid() && !IsScanned(spec, root.path)) {
      MACO_TRY(ScanModules(root, limits, scan.seen));
    }
  }
  MACO_TRY(findings.ledger.Check());
  scan.git_entries = std::move(findings.git_entries);
  scan.git_directories = std::move(findings.git_directories);
  for (auto* paths :
       {&scan.seen.state_roots, &scan.seen.git_files, &scan.git_entries, &scan.git_directories}) {
    std::ranges::sort(*paths);
    // Not std::ranges::unique: clang 14 cannot use the range that it returns.
    paths->erase(std::unique(paths->begin(), paths->end()), paths->end());
  }
  return scan;
}

}  // namespace maco::run

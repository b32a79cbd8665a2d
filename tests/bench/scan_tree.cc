// scan-tree: one scan of a tree as maco-run makes it, for the benchmark and nothing else.
// Prints entries, directories, files, links and the peak of resident memory in KiB.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"
#include "libcommon/os/bounded_read.h"
#include "libcommon/os/proc_status.h"
#include "libcommon/os/tree_scan.h"

namespace {

maco::Result<maco::ScanFindings> Scan(const char* path, bool writable) {
  constexpr std::uint64_t kEntries = 10'000'000;
  maco::Directory root;
  MACO_ASSIGN(root, maco::Directory::OpenPath(path));
  maco::ScanFindings counts;
  maco::WritableFindings findings;
  MACO_TRY(
      maco::ScanTree(root, path, {.entries = kEntries}, counts, writable ? &findings : nullptr));
  MACO_TRY(findings.ledger.Check());
  return counts;
}

// Not ru_maxrss, which also counts the process that started this one, before execve.
maco::Result<unsigned long> PeakResidentKib() {
  constexpr std::size_t kMaxStatusBytes = 1UL << 16U;
  std::string text;
  MACO_ASSIGN(text, maco::ReadPath("/proc/self/status", kMaxStatusBytes));
  maco::StatusFields fields;
  MACO_ASSIGN(fields, maco::ParseStatus(text));
  return strtoul(fields["VmHWM"].c_str(), nullptr, 10);
}

}  // namespace

int main(int argc, char** argv) {
  constexpr char kTool[] = "scan-tree";

  const bool writable = argc == 3 && strcmp(argv[1], "-w") == 0;
  if (argc != 2 && !writable) {
    maco::Note(kTool, "usage: scan-tree [-w] DIR; -w: as a writable root, with its hard links");
    return maco::kExitUsage;
  }
  const auto counts = Scan(argv[argc - 1], writable);
  const auto resident = PeakResidentKib();
  if (!counts || !resident) {
    maco::Report(kTool, counts ? resident.error() : counts.error());
    return maco::kExitFatal;
  }
  printf("%ju %ju %ju %ju %lu\n", std::uintmax_t{counts->entries},
         std::uintmax_t{counts->directories}, std::uintmax_t{counts->files},
         std::uintmax_t{counts->links}, *resident);
  return maco::kExitOk;
}

// Bounded scan of a directory tree for entries that a confined run must not meet.
// No link is followed; another filesystem, another mount and special files are refused (RUN-06).
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "libcommon/base/result.h"
#include "libcommon/os/directory.h"

namespace maco {

inline constexpr std::uint64_t kDefaultScanEntries = 200000;

struct ScanCounts {
  std::uint64_t entries = 0;
  std::uint64_t directories = 0;
  std::uint64_t files = 0;
  std::uint64_t links = 0;  // symbolic
};

// Files with several names, over all writable roots of one pass: a file is inside when as many
// names were met as it has links, and is then forgotten.
class LinkLedger {
 public:
  void Meet(const FileIdentity& identity, const std::string& path);
  // Errors: kRefused, naming one path whose other names lie outside.
  Result<void> Check() const;

 private:
  struct Entry {
    std::uint32_t links = 0;
    std::uint32_t met = 0;
    std::size_t directory = 0;  // in directories_
    std::string name;
  };
  // Files of which a name is missing yet. Their paths are split, so that a great tree fits into
  // little memory.
  std::map<std::pair<std::uint64_t, std::uint64_t>, Entry> missing_;
  std::vector<std::string> directories_;
};

struct ScanLimits {
  std::uint64_t entries = kDefaultScanEntries;
  std::size_t git_entries = 1024;  // also of git directories and of git files
  std::size_t state_roots = 64;
};

// What a pass over all roots has seen. The paths begin with the names of their roots.
struct ScanFindings : ScanCounts {
  // Directories named "maco" that hold a regular file "key", also below ".git": state roots.
  std::vector<std::string> state_roots;
  // Regular files named ".git": each may lead to a git directory that lies elsewhere.
  std::vector<std::string> git_files;
};

// What a pass over writable roots collects.
struct WritableFindings {
  LinkLedger ledger;  // of files outside ".git", which stays read-only
  // Every entry named ".git": the root's own, and those of nested repositories and submodules.
  std::vector<std::string> git_entries;
  // Directories that git would take for a git directory, whatever their name: HEAD, objects, refs.
  // Those inside a ".git" are left out.
  std::vector<std::string> git_directories;
};

// Scans what lies below `root`, whose path `name` is only for messages. For a writable root,
// `findings` is not null: regular files with more than one link and entries named ".git" are
// entered into it; a ".git" that is a symbolic link is refused, since it cannot be protected. Adds
// to `seen`, which also carries what was seen of earlier roots of the same pass. Memory is bounded
// by the bytes of the names on the way to one entry. Errors: kRefused (a path that must not be
// there), kLimit (more entries than allowed), kPermission (a directory that cannot be read), kIo.
Result<void> ScanTree(const Directory& root, const std::string& name, const ScanLimits& limits,
                      ScanFindings& seen, WritableFindings* findings);

}  // namespace maco

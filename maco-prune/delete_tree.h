// Deletes one tree inside the quarantine, following nothing, with few descriptors at any depth.
// Sources: openat2(2), unlinkat(2), renameat2(2). Requirement PRN-02.
#pragma once

#include <cstdint>
#include <string>

#include "libcommon/base/result.h"
#include "libcommon/os/directory.h"

namespace maco::prune {

// At most so many are open for one tree.
inline constexpr unsigned kTreeDescriptors = 11;

struct Deleted {
  std::uint64_t files = 0;
  std::uint64_t directories = 0;
};

enum class Names {
  kPlainOnly,  // a link, a special file or a second name stops it
  kAny,        // their names go, what they lead to is not touched
};

// `name` in `quarantine` must be the directory with that inode; with kAny it is whatever is there.
// Directories that are nested deeply are moved up, to "<name>+<inode>" beside it; those that an
// earlier attempt left there are deleted too. Directories are made writable first. Errors, after
// which what is left stays in the quarantine: kCorrupt (another directory, or it was exchanged
// meanwhile), kRefused (what kPlainOnly stops at; another file system or mount), kPermission (an
// immutable file), kBusy (somebody adds to it), kIo.
Result<Deleted> DeleteTree(const Directory& quarantine, const std::string& name,
                           std::uint64_t inode, Names names);

}  // namespace maco::prune

// Copy on write: files of the repository's working tree that a new lane may share blocks with.
// Source: ioctl_ficlonerange(2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "libcommon/base/result.h"
#include "maco-worktree/base_index.h"

namespace maco::worktree {

// Below this a clone costs more than writing the file anew.
inline constexpr std::uint64_t kLeastCloned = std::uint64_t{16} << 10U;

// Whether a new file in `directory` can share its blocks with `file`.
bool SharesBlocks(const std::string& file, const std::string& directory);

// Clones the regular files of `base` that `index`, which is that of the working tree `from`, has
// with the same object id and as they still are, into the new directory `to`. Nothing is followed.
// What was cloned is not proven to be what the base has: git has to compare it. Returns how many
// files were cloned; none where the file system does not share blocks. Errors: kLimit (disk full),
// kIo, kPermission.
Result<std::size_t> CloneFiles(const std::string& from, const BaseIndex& index,
                               const std::string& to, const BaseIndex& base);

}  // namespace maco::worktree

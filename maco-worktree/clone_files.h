// Copy on write: files of the repository's working tree that a new lane shares blocks with.
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

// Clones into the new directory `to` the regular files of `base` that `index`, which is that of the
// working tree `from`, has with the same object id and as they still are; and of those only the
// ones that have that id: nothing that an index says is believed, and nothing is followed. Notes
// them in the index file `base_fd`, whose content `base` is. On all cores. Returns how many files
// were cloned; none where the file system does not share blocks. Errors: kLimit (disk full), kIo,
// kPermission.
Result<std::size_t> CloneFiles(const std::string& from, const BaseIndex& index,
                               const std::string& to, const BaseIndex& base, int base_fd);

}  // namespace maco::worktree

// One digest over all that a directory tree holds: names, kinds, permissions, content, link
// targets. Contract: docs/formats/step.md ("The state of a worktree").
#pragma once
#include <cstdint>
#include <string>

#include "libcommon/auth/mac.h"
#include "libcommon/base/result.h"
#include "libcommon/os/directory.h"

namespace maco {

struct TreeDigest {
  Digest digest{};
  std::uint64_t entries = 0;
};

// No link is followed; an entry ".git" right below `root` is left out, and so is the path
// `excluded`, relative to it, if that is not empty. Errors: kLimit (more than
// `max_entries`, or nested deeper than 512), kPermission (something cannot be read), kRefused
// (another file system or mount), kIo. A tree that changes meanwhile has any digest, or kNotFound.
Result<TreeDigest> DigestTree(const Directory& root, std::uint64_t max_entries,
                              const std::string& excluded = {});

}  // namespace maco

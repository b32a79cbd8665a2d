// The state of a worktree and of other trees, as far as a resumed run depends on it (JRN-05).
// Contract: docs/formats/step.md ("The state of a worktree").
#pragma once
#include <string>
#include <vector>

#include "libcommon/auth/json.h"
#include "libcommon/base/result.h"

namespace maco {

// Where to look. All paths are absolute.
struct WorktreePlace {
  std::string git_dir;             // of the worktree
  std::string worktree;            // top level; empty if there is none: then only HEAD is looked at
  std::vector<std::string> roots;  // trees that the run may read or write
  std::string excluded;  // a file that does not count: where the result is saved; may be empty
};

Json EncodePlace(const WorktreePlace& place);
// Errors: kCorrupt.
Result<WorktreePlace> DecodePlace(const Json& value);

// {"head", "index_sha256", "roots": [{"path_hex", "sha256", "entries"}]}: two equal states have
// equal values. Git is run with its own settings for speed and hooks off; nothing is written.
// Errors: kNotFound (a root is gone), those of DigestTree, kInvalid (git's own reason), kLimit,
// kTimeout, kIo.
Result<Json> CaptureWorktree(const WorktreePlace& place);

// What differs, for people: "HEAD", "the index", "'/path'"; empty if nothing does.
std::string WorktreeDifference(const Json& a, const Json& b);

}  // namespace maco

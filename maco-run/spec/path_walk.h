// Walks a path as the kernel does, and says whether a run could make it lead elsewhere.
#pragma once
#include <string>

#include "libcommon/base/result.h"
#include "maco-run/spec/run_spec.h"

namespace maco::run {

// The path without links, or empty when it does not exist.
std::string Canonical(const std::string& path);

// Whether the run may change what is at a canonical path: the innermost root around it is writable,
// and it is not kept read-only.
bool IsWritableInside(const RunSpec& spec, const std::string& path);

struct WalkedPath {
  std::string path;  // canonical, as far as it exists
  bool exists = true;
};

// Resolves an absolute path that git is going to follow after the run. `holder` names where it
// stands, and is in a directory that stays in its place. Errors: kRefused, if the way leads over a
// symbolic link or a directory that the run could replace, or if the end of it, not there yet,
// could be made by the run.
Result<WalkedPath> WalkFixedPath(const RunSpec& spec, const std::string& path,
                                 const std::string& holder);

}  // namespace maco::run

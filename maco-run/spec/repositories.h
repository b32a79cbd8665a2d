// Repositories in the roots of a run: what of them it must not write (ADM-01), and what it must not
// see (JRN-10).
#pragma once
#include <string>
#include <vector>

#include "libcommon/base/result.h"
#include "maco-run/spec/root_scan.h"
#include "maco-run/spec/run_spec.h"

namespace maco::run {

// Makes read-only, in writable roots: entries named ".git", git directories of any name, and those
// that a ".git" file or a "commondir" leads to. Hides the state roots that the scan met, and those
// of git directories that ".git" files lead to. Errors: kRefused, kLimit, kIo.
Result<void> ProtectRepositories(const RootScan& scan, RunSpec& spec);

// Whether all that is already so: the scan before release. Errors: kRefused, naming what is new.
Result<void> CheckRepositories(const RootScan& scan, const RunSpec& spec);

// Keeps read-only what `path` leads to, if the run could write it. `holder` is what names it.
// Errors: kRefused (a root as a whole; what WalkFixedPath refuses), kIo.
Result<void> ProtectPath(const std::string& path, const std::string& holder, RunSpec& spec);

// A mount holds a directory in its place, but not the directories above it: moved away, they would
// make room for another repository. So each of them up to the root becomes a mount as well.
// Errors: kLimit (more mounts than a unit can have), kIo.
Result<void> HoldDirectoriesAbove(RunSpec& spec);

}  // namespace maco::run

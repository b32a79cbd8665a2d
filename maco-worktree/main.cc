// maco-worktree: the program behind `git maco worktree`.
// Manual: git-maco-worktree(1). Exit statuses: libcommon/base/exit_code.h.
#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"
#include "libcommon/os/fd.h"
#include "maco-worktree/options.h"
#include "maco-worktree/place.h"
#include "maco-worktree/verbs.h"

int main(int argc, char** argv) {
  if (const auto claimed = maco::ClaimStandardDescriptors(); !claimed) {
    return maco::kExitFatal;
  }
  const auto options = maco::worktree::ParseOptions(argc, argv);
  if (!options) {
    maco::Report(maco::worktree::kTool, options.error());
    return maco::kExitUsage;
  }
  const auto status = maco::worktree::Execute(*options);
  if (!status) {
    maco::Report(maco::worktree::kTool, status.error());
    return maco::kExitFatal;
  }
  return *status;
}

// maco-prune: the program behind `git maco prune`.
// Manual: git-maco-prune(1). Exit statuses: libcommon/base/exit_code.h.
#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"
#include "libcommon/os/fd.h"
#include "maco-prune/options.h"
#include "maco-prune/place.h"
#include "maco-prune/verbs.h"

int main(int argc, char** argv) {
  if (const auto claimed = maco::ClaimStandardDescriptors(); !claimed) {
    return maco::kExitFatal;
  }
  const auto options = maco::prune::ParseOptions(argc, argv);
  if (!options) {
    maco::Report(maco::prune::kTool, options.error());
    return maco::kExitUsage;
  }
  const auto status = maco::prune::Execute(*options);
  if (!status) {
    maco::Report(maco::prune::kTool, status.error());
    return maco::kExitFatal;
  }
  return *status;
}

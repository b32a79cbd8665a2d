// maco-journal: the program behind `git maco journal`.
// Manual: git-maco-journal(1). Exit statuses: libcommon/base/exit_code.h.
#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"
#include "libcommon/os/fd.h"
#include "maco-journal/options.h"
#include "maco-journal/place.h"
#include "maco-journal/verbs.h"

int main(int argc, char** argv) {
  if (const auto claimed = maco::ClaimStandardDescriptors(); !claimed) {
    return maco::kExitFatal;
  }
  const auto options = maco::journal::ParseOptions(argc, argv);
  if (!options) {
    maco::Report(maco::journal::kTool, options.error());
    return maco::kExitUsage;
  }
  const auto status = maco::journal::Execute(*options);
  if (!status) {
    maco::Report(maco::journal::kTool, status.error());
    return maco::kExitFatal;
  }
  return *status;
}

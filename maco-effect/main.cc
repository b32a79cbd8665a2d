// maco-effect: the program behind `git maco effect`.
// Manual: git-maco-effect(1). Exit statuses: libcommon/base/exit_code.h.
#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"
#include "libcommon/os/fd.h"
#include "maco-effect/options.h"
#include "maco-effect/place.h"
#include "maco-effect/verbs.h"

int main(int argc, char** argv) {
  if (const auto claimed = maco::ClaimStandardDescriptors(); !claimed) {
    return maco::kExitFatal;
  }
  const auto options = maco::effect::ParseOptions(argc, argv);
  if (!options) {
    maco::Report(maco::effect::kTool, options.error());
    return maco::kExitUsage;
  }
  const auto status = maco::effect::Execute(*options);
  if (!status) {
    maco::Report(maco::effect::kTool, status.error());
    // Some words of the command line are known to be wrong only when it is carried out.
    return status.error().code == maco::Code::kUsage ? maco::kExitUsage : maco::kExitFatal;
  }
  return *status;
}

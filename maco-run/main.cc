// maco-run: runs an untrusted command confined, proves it, and writes authenticated evidence.
// Manual: docs/man/maco-run.1. Exit statuses: libcommon/base/exit_code.h.
#include <cstdio>

#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"
#include "libcommon/os/fd.h"
#include "maco-run/options.h"
#include "maco-run/run.h"

int main(int argc, char** argv) {
  constexpr char kTool[] = "maco-run";
  if (const auto claimed = maco::ClaimStandardDescriptors(); !claimed) {
    maco::Report(kTool, claimed.error());
    return maco::kExitNotStarted;
  }
  const auto options = maco::run::ParseOptions(argc, argv);
  if (!options) {
    maco::Report(kTool, options.error());
    return maco::kExitNotStarted;
  }
  if (options->action != maco::run::Options::Action::kRun) {
    const bool help = options->action == maco::run::Options::Action::kHelp;
    fputs(help ? maco::run::Usage().c_str() : "maco-run " MACO_VERSION "\n", stdout);
    return fflush(stdout) == 0 ? maco::kExitOk : maco::kExitNotStarted;
  }
  const auto status = maco::run::ExecuteRun(*options);
  if (!status) {
    maco::Report(kTool, status.error());
    return maco::kExitNotStarted;
  }
  return *status;
}

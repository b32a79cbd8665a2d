// maco-init: the program behind `git maco init`.
// Manual: git-maco-init(1). Exit statuses: libcommon/base/exit_code.h.
#include "git-maco/init/init.h"
#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"

int main(int argc, char** argv) {
  constexpr char kName[] = "git maco init";
  const auto options = maco::ParseInitOptions({argv + 1, argv + argc});
  if (!options) {
    maco::Report(kName, options.error());
    return maco::kExitUsage;
  }
  const auto done = maco::RunInit(*options);
  if (!done) {
    maco::Report(kName, done.error());
    return maco::kExitFatal;
  }
  return options->help ? maco::kExitUsage : maco::kExitOk;
}

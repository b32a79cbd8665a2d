// maco-init: the program behind `git maco init`.
// Manual: git-maco-init(1). Exit statuses: libcommon/base/exit_code.h.
#include <cstdio>

#include "git-maco/init/init.h"
#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"

int main(int argc, char** argv) {
  const auto options = maco::ParseInitOptions({argv + 1, argv + argc});
  if (!options) {
    maco::Report("git maco init", options.error());
    return maco::kExitUsage;
  }
  if (options->help) {
    std::fputs(maco::InitUsage().c_str(), stdout);
    return maco::kExitUsage;
  }
  const auto done = maco::RunInit(*options);
  if (!done) {
    maco::Report("git maco init", done.error());
    return maco::kExitFatal;
  }
  return maco::kExitOk;
}

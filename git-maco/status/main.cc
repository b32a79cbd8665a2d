// maco-status: the program behind `git maco status`.
// Manual: git-maco-status(1). Exit statuses: libcommon/base/exit_code.h.
#include "git-maco/status/status.h"
#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"

int main(int argc, char** argv) {
  constexpr char kName[] = "git maco status";
  const auto options = maco::status::ParseOptions({argv + 1, argv + argc});
  if (!options) {
    maco::Report(kName, options.error());
    return maco::kExitUsage;
  }
  const auto status = maco::status::RunStatus(*options);
  if (!status) {
    maco::Report(kName, status.error());
    return maco::kExitFatal;
  }
  return *status;
}

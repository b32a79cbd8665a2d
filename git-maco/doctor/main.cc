// maco-doctor: the program behind `git maco doctor`.
// Manual: git-maco-doctor(1). Exit statuses: libcommon/base/exit_code.h.
#include "git-maco/doctor/doctor.h"
#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"

int main(int argc, char** argv) {
  constexpr char kName[] = "git maco doctor";
  const auto options = maco::doctor::ParseOptions({argv + 1, argv + argc});
  if (!options) {
    maco::Report(kName, options.error());
    return maco::kExitUsage;
  }
  const auto status = maco::doctor::RunDoctor(*options);
  if (!status) {
    maco::Report(kName, status.error());
    return maco::kExitFatal;
  }
  return *status;
}

// The command line of maco-run. Manual: docs/man/maco-run.1.
// Errors: kUsage, kInvalid.
#pragma once
#include <string>
#include <vector>

#include "libcommon/base/result.h"
#include "maco-run/spec/resolve.h"
#include "maco-run/spec/settings.h"

namespace maco::run {

struct Options {
  enum class Action { kRun, kHelp, kVersion };
  Action action = Action::kRun;
  Request request;  // its limits are chosen later, from configuration and the flags
  LimitFlags limit_flags;
  bool raw = false;         // control characters of the target reach a terminal
  bool json = false;        // stdout is the evidence document alone
  int evidence_fd = -1;     // where the evidence goes besides the store
  std::string result_file;  // where the result goes
  bool profile_named = false;
  std::string lane;           // the workspace is this lane
  bool write_claims = false;  // only what the lane has claimed can be written
  std::string validates;      // a candidate of the lane
  std::string run_name;       // with step_name: the script's run that this is a step of
  std::string step_name;
  bool validation = false;  // the step is done each time
};

Result<Options> ParseOptions(int argc, const char* const* argv);

std::string Usage();

}  // namespace maco::run

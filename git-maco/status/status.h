// `git maco status`: the repository's maco state, its runs, and what needs an operator.
// Manual: git-maco-status(1).
#pragma once
#include <string>
#include <vector>

#include "libcommon/base/result.h"

namespace maco::status {

struct Options {
  bool json = false;
  bool porcelain = false;  // lines for scripts
  bool help = false;
};

// Arguments without the program's name. Errors: kUsage.
Result<Options> ParseOptions(const std::vector<std::string>& arguments);

std::string Usage();

// Prints usage, lines or the JSON document on standard output and returns the exit status.
// Errors: those of FindRepository, StateRoot::Open and SurveyRuns, kIo (standard output).
Result<int> RunStatus(const Options& options);

}  // namespace maco::status

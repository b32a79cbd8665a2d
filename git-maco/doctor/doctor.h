// `git maco doctor`: what verified runs need, whether it is there, and a real run as the proof.
// Manual: git-maco-doctor(1).
#pragma once
#include <string>
#include <vector>

#include "libcommon/base/result.h"

namespace maco::doctor {

struct Options {
  bool json = false;
  bool help = false;
  bool trial = false;  // kTrialOption: this is the process that tries namespaces
};

// Arguments without the program's name. Errors: kUsage.
Result<Options> ParseOptions(const std::vector<std::string>& arguments);

std::string Usage();

// Prints usage, lines or the JSON document on standard output and returns the exit status.
// Errors: kIo (standard output, the path of this program).
Result<int> RunDoctor(const Options& options);

}  // namespace maco::doctor

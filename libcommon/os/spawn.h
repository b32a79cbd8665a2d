// Runs a trusted program to its end and captures its output, within bounds.
// Not for untrusted commands: those belong in a unit (maco-run).
#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "libcommon/base/result.h"

namespace maco {

struct SpawnRequest {
  std::string program;                    // absolute
  std::vector<std::string> arguments;     // without argv[0]
  std::vector<std::string> environment;   // "NAME=value", the whole environment
  std::string directory;                  // empty: ours
  std::optional<std::string> input;       // what it reads; none: /dev/null
  std::size_t output_limit = 1UL << 20U;  // bytes of stdout, and of stderr
  std::chrono::milliseconds timeout{30000};
};

struct SpawnResult {
  int exit_status = 0;  // meaningful if signal is 0
  int signal = 0;
  std::string output;
  std::string error_output;
};

// No other descriptor of ours is open, no signal is blocked or ignored. A process that the program
// leaves behind is not waited for. Errors: kNotFound, kPermission (exec), kLimit (output), kTimeout
// (the program was killed), kIo.
Result<SpawnResult> RunProgram(const SpawnRequest& request);

}  // namespace maco

// The inner init: pid 1 of the target's PID namespace. Mounts what is private to it, starts the
// target, reaps, and takes the whole tree with it when the target ends.
#pragma once
#include <cstdint>

#include "maco-run/gate/launch_plan.h"

namespace maco::run {

struct TargetStdio {
  int input;
  int output;
  int error_output;
};

// What the init writes into its pipe when the target has ended.
struct InitVerdict {
  std::uint32_t wait_status = 0;  // of the target, as wait(2) gives it
  std::uint32_t leftovers = 0;    // processes that were still there and are killed with us
};

[[noreturn]] void RunInit(const LaunchPlan& plan, TargetStdio stdio, int verdict_fd);

// Reads the verdict without waiting for more. False when none was written.
bool ReadVerdict(int fd, InitVerdict& verdict);

}  // namespace maco::run

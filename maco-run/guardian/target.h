// The target's process before it is the target: privileges off, filter on, report, gate, exec.
// The order is fixed: what is reported is what the target gets.
#pragma once
#include "maco-run/gate/launch_plan.h"
#include "maco-run/guardian/init.h"

namespace maco::run {

[[noreturn]] void RunTarget(const LaunchPlan& plan, TargetStdio stdio);

}  // namespace maco::run

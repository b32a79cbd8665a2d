// Collects the report from inside: mounts, status, namespaces, limits, paths, probes, descriptors.
// Contents: maco-run/gate/report.h. Source: proc(5), statvfs(3), getrlimit(2).
#pragma once
#include "maco-run/gate/launch_plan.h"
#include "maco-run/gate/report.h"

namespace maco::run {

// Ends the guardian with a failure packet when /proc cannot be read.
Report Observe(const LaunchPlan& plan);

}  // namespace maco::run

// A RunSpec in the three forms that others take: unit properties, launch plan, evidence.
// Pure: the same spec gives the same output.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "libcommon/auth/json.h"
#include "maco-run/gate/launch_plan.h"
#include "maco-run/spec/run_spec.h"

namespace maco::run {

std::vector<UnitProperty> ComposeProperties(const RunSpec& spec);

// The same without those that a test leaves out, so that what was asked for is missing.
std::vector<UnitProperty> PropertiesToSend(const RunSpec& spec);

LaunchPlan ComposePlan(const RunSpec& spec);

// The cgroup files that must hold these values, by file name.
std::map<std::string, std::string> ExpectedCgroupFiles(const Limits& limits);

// The evidence's "requested" member: everything that the observations are compared with.
Json ComposeRequested(const RunSpec& spec);

}  // namespace maco::run

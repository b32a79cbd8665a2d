// The probes that are one system call and nothing else. Where the kernel looks at the arguments
// before it looks at privileges, an allowed call meets another errno than the filter's; for the
// rest
// ("privilege") leaving out the rule is not seen, see tests/vm/t1101-run-layers.sh.
#pragma once
#include <string>
#include <vector>

namespace maco::run {

// As Probe() of maco-run/guardian/probes.h.
int TryPlainCall(const std::string& name);
std::vector<std::string> AllPlainCalls();

}  // namespace maco::run

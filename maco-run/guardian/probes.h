// Attempts at every operation that a profile denies, made in the process that becomes the target.
// Names are stable: they appear in the evidence and in maco-run(1).
#pragma once
#include <string>
#include <vector>

namespace maco::run {

// Makes the attempt and undoes it if it worked. Returns 0 when it worked, else its errno; a probe
// whose child was killed by the filter counts as EPERM; an unknown name is ENOSYS, which no profile
// expects.
int Probe(const std::string& name);

// All names, in the order in which they are tried.
std::vector<std::string> AllProbes();

}  // namespace maco::run

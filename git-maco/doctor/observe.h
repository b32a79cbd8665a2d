// Observe*: looks at the host and the current repository and says what is there, without a verdict.
// What is looked at: git-maco/doctor/facts.h. A look that fails is a fact too, never an error.
#pragma once
#include <string>

#include "git-maco/doctor/facts.h"

namespace maco::doctor {

// Everything. `program` is the path of this program: maco-run is looked for beside it, and it is
// run once more for the trial of user namespaces.
Facts Observe(const std::string& program);

HostFacts ObserveHost();
CgroupFacts ObserveCgroup();
ManagerFacts ObserveManager();
KernelFacts ObserveKernel(const std::string& program);
ToolFacts ObserveTools(const std::string& program);
RepositoryFacts ObserveRepository();

// Reads at most 64 KiB.
FileFact ObserveFile(const std::string& path);

}  // namespace maco::doctor

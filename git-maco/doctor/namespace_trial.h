// NamespaceTrial: really makes the namespaces that a verified run needs, in a process of its own.
// Source: user_namespaces(7). This program runs itself with kTrialOption; the process then ends.
#pragma once
#include <string_view>
#include <vector>

#include "git-maco/doctor/facts.h"
#include "libcommon/base/result.h"

namespace maco::doctor {

// Not in the manual: only for this program itself.
inline constexpr std::string_view kTrialOption = "--try-namespaces";

// What happens in the new process: one step after the other up to the first that fails, and a line
// "ERRNO STEP" for each on standard output. Returns the exit status.
int PerformTrial();

// Runs `program` with kTrialOption. Errors: those of RunProgram, kInvalid (its output).
Result<std::vector<Step>> TryNamespaces(const std::string& program);

// Errors: kInvalid.
Result<std::vector<Step>> ParseTrial(std::string_view output);

}  // namespace maco::doctor

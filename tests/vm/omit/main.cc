// maco-run-omit: maco-run with layers of the confinement left out, to see that the gate refuses, or
// with --no-gate that a hostile program then succeeds. For tests only, never installed.
// usage: maco-run-omit [--omit LAYER[,LAYER]...] [--no-gate] ARGUMENT-OF-MACO-RUN...
//        maco-run-omit --list-calls    the system calls for which the filter has a rule
// LAYER: property:NAME | mask:PATH | private:PATH | syscall:NAME | step:NAME
#include <seccomp.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"
#include "libcommon/base/text.h"
#include "maco-run/gate/launch_plan.h"
#include "maco-run/options.h"
#include "maco-run/policy/seccomp_policy.h"
#include "maco-run/run.h"
#include "maco-run/spec/compose.h"

namespace {

using maco::Code;
using maco::Fail;
using maco::Result;
using maco::run::RunSpec;

constexpr char kTool[] = "maco-run-omit";

struct Step {
  const char* name;
  maco::run::GuardianStep step;
};

constexpr Step kSteps[] = {
    {"namespaces", maco::run::GuardianStep::kNamespaces},
    {"proc", maco::run::GuardianStep::kProc},
    {"devpts", maco::run::GuardianStep::kDevpts},
    {"drop-privilege", maco::run::GuardianStep::kDropPrivilege},
    {"no-new-privs", maco::run::GuardianStep::kNoNewPrivs},
    {"filter", maco::run::GuardianStep::kFilter},
    {"landlock", maco::run::GuardianStep::kLandlock},
    {"user-limits", maco::run::GuardianStep::kUserLimits},
    {"close-descriptors", maco::run::GuardianStep::kCloseDescriptors},
};

struct Omission {
  std::vector<std::string> properties;
  std::vector<std::string> paths;
  std::set<std::string> calls;
  std::uint32_t steps = 0;
};

Result<void> TakeStep(const std::string& name, Omission& omission) {
  for (const auto& step : kSteps) {
    if (name == step.name) {
      omission.steps |= static_cast<std::uint32_t>(step.step);
      return {};
    }
  }
  return Fail(Code::kUsage, "no step '" + name + "'");
}

// A name without effect would make a test pass that tests nothing.
Result<bool> HasRule(const std::string& call) {
  maco::Bytes whole;
  maco::Bytes without;
  MACO_ASSIGN(whole, maco::run::BuildOfflineFilter());
  MACO_ASSIGN(without, maco::run::BuildOfflineFilter({call}));
  return whole != without;
}

Result<void> TakeLayer(const std::string& layer, Omission& omission) {
  const std::size_t colon = layer.find(':');
  const std::string kind = layer.substr(0, colon);
  const std::string name = colon == std::string::npos ? "" : layer.substr(colon + 1);
  if (kind == "property") {
    omission.properties.push_back(name);
    return {};
  }
  if (kind == "mask" || kind == "private") {
    omission.paths.push_back(name);
    return {};
  }
  if (kind == "step") {
    return TakeStep(name, omission);
  }
  if (kind != "syscall") {
    return Fail(Code::kUsage, "no layer '" + layer + "'");
  }
  bool has_rule = false;
  MACO_ASSIGN(has_rule, HasRule(name));
  if (!has_rule) {
    return Fail(Code::kUsage, "the filter has no rule for '" + name + "'");
  }
  omission.calls.insert(name);
  return {};
}

// What is left out must have been there.
Result<void> CheckPresent(const Omission& omission, const RunSpec& spec) {
  for (const auto& name : omission.properties) {
    bool found = false;
    for (const auto& property : maco::run::ComposeProperties(spec)) {
      found = found || property.name == name;
    }
    if (!found) {
      return Fail(Code::kUsage, "the unit has no property '" + name + "'");
    }
  }
  for (const auto& path : omission.paths) {
    bool found = false;
    for (const auto& mask : spec.masks) {
      found = found || (mask.path == path && !mask.by_tmpfs);
    }
    for (const auto& directory : spec.private_directories) {
      found = found || directory.path == path;
    }
    if (!found) {
      return Fail(Code::kUsage, "nothing covers or masks '" + path + "' by itself");
    }
  }
  return {};
}

void Apply(const Omission& omission, RunSpec& spec) {
  auto present = CheckPresent(omission, spec);
  auto filter = maco::run::BuildOfflineFilter(omission.calls);
  if (!present || !filter) {
    maco::Report(kTool, present ? filter.error() : present.error());
    exit(maco::kExitNotStarted);
  }
  spec.omitted_properties = omission.properties;
  spec.omitted_paths = omission.paths;
  spec.omitted_steps = omission.steps;
  spec.filter = std::move(*filter);
}

// Its own options come first; the rest is left in `arguments`.
Result<maco::run::TestHooks> TakeHooks(std::vector<const char*>& arguments) {
  maco::run::TestHooks hooks;
  Omission omission;
  std::size_t at = 1;
  for (; at < arguments.size(); ++at) {
    const std::string argument = arguments[at];
    if (argument == "--no-gate") {
      hooks.release_refused = true;
    } else if (argument == "--omit" && at + 1 < arguments.size()) {
      for (const auto layer : maco::Split(arguments[++at], ',')) {
        MACO_TRY(TakeLayer(std::string(layer), omission));
      }
    } else {
      break;
    }
  }
  arguments.erase(arguments.begin() + 1, arguments.begin() + static_cast<std::ptrdiff_t>(at));
  hooks.alter = [omission](RunSpec& spec) { Apply(omission, spec); };
  return hooks;
}

int ListCalls() {
  constexpr int kLastCall = 462;
  for (int number = 0; number <= kLastCall; ++number) {
    char* name = seccomp_syscall_resolve_num_arch(seccomp_arch_native(), number);
    if (name == nullptr) {
      continue;
    }
    const auto has_rule = HasRule(name);
    if (has_rule && *has_rule) {
      puts(name);
    }
    free(name);
  }
  return maco::kExitOk;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<const char*> arguments(argv, argv + argc);
  if (argc == 2 && std::string(argv[1]) == "--list-calls") {
    return ListCalls();
  }
  const auto hooks = TakeHooks(arguments);
  if (!hooks) {
    maco::Report(kTool, hooks.error());
    return maco::kExitNotStarted;
  }
  const auto options =
      maco::run::ParseOptions(static_cast<int>(arguments.size()), arguments.data());
  if (!options) {
    maco::Report(kTool, options.error());
    return maco::kExitNotStarted;
  }
  const auto status = maco::run::ExecuteRun(*options, *hooks);
  if (!status) {
    maco::Report(kTool, status.error());
    return maco::kExitNotStarted;
  }
  return *status;
}

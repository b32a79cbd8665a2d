// What tests/vm/omit changes in a run, to see that the gate refuses it. No option, variable or file
// of maco-run leads here: only a program that passes one to ExecuteRun has any.
#pragma once
#include <functional>

#include "maco-run/spec/run_spec.h"

namespace maco::run {

struct TestHooks {
  std::function<void(RunSpec&)> alter;  // leaves layers out
  bool release_refused = false;         // the target starts although the gate refuses it
};

}  // namespace maco::run

// Any bytes as a launch plan: what is accepted has exactly one encoding, the given one.
// Contract under test: docs/formats/gate.md, "Launch plan".
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "maco-run/gate/launch_plan.h"

namespace {

void Require(bool ok) {
  if (!ok) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::uint8_t> bytes(data, size);
  const auto plan = maco::run::DecodePlan(bytes);
  if (!plan) {
    return 0;
  }
  Require(!plan->arguments.empty() && plan->steps <= maco::run::kAllGuardianSteps);
  for (const auto* list : {&plan->arguments, &plan->environment, &plan->roots}) {
    for (const auto& text : *list) {
      Require(text.find('\0') == std::string::npos);
    }
  }
  const auto again = maco::run::EncodePlan(*plan);
  Require(again && std::ranges::equal(*again, bytes));
  return 0;
}

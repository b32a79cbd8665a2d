// effect-cost: fills the log of effects of the current repository, or times opening it.
// Prints seconds. For the benchmark only.
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "libcommon/auth/state_root.h"
#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"
#include "libcommon/base/text.h"
#include "libcommon/effect/effect_log.h"
#include "libcommon/git/repository.h"

namespace maco {
namespace {

constexpr char kTool[] = "effect-cost";
constexpr char kUsage[] = "usage: effect-cost fill COUNT | open";
constexpr std::size_t kGroup = 500;

// As the row of a comment that is completed.
Effect Completed(std::uint64_t number) {
  constexpr std::uint64_t kTime = 1'790'000'000'000'000;
  Effect effect;
  std::string digits = std::to_string(number);
  digits = std::string(kEffectIdDigits - digits.size(), '0') + digits;
  effect.id = digits;
  effect.subject = digits;
  effect.operation = "comment";
  effect.transport = "github";
  effect.repository = "github.com/example/project";
  effect.target = "#12";
  effect.action = "auto-0123456789abcdef";
  effect.state = "completed";
  effect.attempts = 1;
  effect.planned_us = effect.started_us = kTime + number;
  effect.observed_us = effect.completed_us = effect.since_us = kTime + number;
  effect.actor_id = "12345678";
  effect.repository_id = "123456789";
  effect.marker = digits;
  effect.content_sha256 = digits + digits;
  effect.receipt = {
      "comment/" + std::to_string(number),
      "https://github.com/example/project/issues/12#issuecomment-" + std::to_string(number), 12};
  return effect;
}

Result<void> Fill(const StateRoot& state, std::uint64_t count) {
  for (std::uint64_t done = 0; done < count; done += kGroup) {
    const auto committed = ChangeEffects(
        state, Durability::kRecord, [&](const EffectTable&) -> Result<std::vector<EffectStep>> {
          std::vector<EffectStep> steps;
          for (std::uint64_t i = done; i < done + kGroup && i < count; ++i) {
            steps.push_back({Completed(i), std::nullopt, false});
          }
          return steps;
        });
    MACO_TRY(committed);
  }
  return {};
}

// For writing, and a look at one row: what each command does.
Result<void> Open(const StateRoot& state) {
  return ChangeEffects(state, Durability::kRecord,
                       [](const EffectTable& table) -> Result<std::vector<EffectStep>> {
                         MACO_TRY(table.Find(std::string(kEffectIdDigits, '0')));
                         return std::vector<EffectStep>();
                       });
}

Result<void> Work(const std::vector<std::string>& arguments) {
  Repository repository;
  MACO_ASSIGN(repository, FindRepository());
  Directory common;
  MACO_ASSIGN(common, Directory::OpenPath(repository.common_dir));
  auto state = StateRoot::Open(common, IfMoved::kRefuse, Access::kWrite);
  if (!state) {
    return Fail(std::move(state).error());
  }
  if (arguments.size() == 2 && arguments[0] == "fill") {
    const auto count = ParseUint(arguments[1]);
    return count ? Fill(*state, *count) : Fail(Code::kUsage, kUsage);
  }
  if (arguments.size() != 1 || arguments[0] != "open") {
    return Fail(Code::kUsage, kUsage);
  }
  const auto start = std::chrono::steady_clock::now();
  MACO_TRY(Open(*state));
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  std::printf("%.9f\n", passed.count());
  return {};
}

}  // namespace
}  // namespace maco

int main(int argc, char** argv) {
  const auto done = maco::Work({argv + 1, argv + argc});
  if (!done) {
    maco::Report(maco::kTool, done.error());
    return maco::kExitFatal;
  }
  return maco::kExitOk;
}

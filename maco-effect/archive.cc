// `archive`: finished effects leave the log; their receipts stay, authenticated (EFF-05).
#include "libcommon/base/clock.h"
#include "libcommon/base/exit_code.h"
#include "libcommon/cli/document.h"
#include "libcommon/cli/output.h"
#include "maco-effect/archive_segment.h"
#include "maco-effect/place.h"
#include "maco-effect/verbs.h"

namespace maco::effect {

Result<int> Archive(const Options& options) {
  constexpr std::uint64_t kSecond = 1'000'000;
  constexpr std::size_t kAtOnce = 4096;
  Place place;
  MACO_ASSIGN(place, FindRepositoryPlace());
  auto state = OpenState(place, options.dry_run ? Access::kRead : Access::kWrite);
  if (!state) {
    return Fail(std::move(state).error());
  }
  EffectTable table;
  MACO_ASSIGN(table, ReadEffects(*state));
  const std::uint64_t age = options.max_age_seconds * kSecond;
  const std::uint64_t now = WallMicros();
  std::vector<Error> damaged;
  std::vector<Effect> old;
  for (auto& effect : table.All(damaged)) {
    const bool done = effect.state == "completed" || effect.state == "abandoned";
    if (done && effect.completed_us + age <= now && old.size() < kAtOnce) {
      old.push_back(std::move(effect));
    }
  }
  std::string number;
  if (!old.empty() && !options.dry_run) {
    MACO_ASSIGN(number, ArchiveEffects(*state, table, old));
  }
  if (options.json) {
    Json ids = Json::array();
    for (const auto& effect : old) {
      ids.push_back(effect.id);
    }
    MACO_TRY(PrintDocument("maco.effect-archive-report/1",
                           {{"archive", number}, {"effects", std::move(ids)}}));
  } else if (old.empty()) {
    MACO_TRY(Print("nothing to archive\n"));
  } else {
    MACO_TRY(Print((options.dry_run ? "would archive " : "archived ") + std::to_string(old.size()) +
                   " effects" + (number.empty() ? "" : " in archive " + number) + "\n"));
  }
  return kExitOk;
}

}  // namespace maco::effect

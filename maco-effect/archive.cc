// `archive`: finished effects leave the log; their receipts stay, authenticated (EFF-05).
#include <algorithm>

#include "libcommon/base/clock.h"
#include "libcommon/base/exit_code.h"
#include "libcommon/cli/document.h"
#include "libcommon/cli/output.h"
#include "maco-effect/archive_segment.h"
#include "maco-effect/place.h"
#include "maco-effect/verbs.h"

namespace maco::effect {
namespace {

// What was completed or abandoned before that time.
std::vector<Effect> DoneBefore(const EffectTable& table, std::uint64_t micros) {
  constexpr std::size_t kAtOnce = 4096;
  std::vector<Error> damaged;
  std::vector<Effect> out;
  for (auto& effect : table.All(damaged)) {
    const bool done = effect.state == "completed" || effect.state == "abandoned";
    if (done && effect.completed_us <= micros && out.size() < kAtOnce) {
      out.push_back(std::move(effect));
    }
  }
  return out;
}

}  // namespace

Result<int> Archive(const Options& options) {
  constexpr std::uint64_t kSecond = 1'000'000;
  Place place;
  MACO_ASSIGN(place, FindRepositoryPlace());
  auto state = OpenState(place, options.dry_run ? Access::kRead : Access::kWrite);
  if (!state) {
    return Fail(std::move(state).error());
  }
  const std::uint64_t now = WallMicros();
  const std::uint64_t age = std::min(options.max_age_seconds * kSecond, now);
  const ArchiveChoice choose = [&](const EffectTable& table) {
    return DoneBefore(table, now - age);
  };
  Archived moved;
  if (options.dry_run) {
    EffectTable table;
    MACO_ASSIGN(table, ReadEffects(*state));
    moved.effects = choose(table);
  } else {
    MACO_ASSIGN(moved, ArchiveEffects(*state, choose));
  }
  const auto& [number, old] = moved;
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

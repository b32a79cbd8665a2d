// Rows moved on under the lock of the log.
// Contract: maco-effect/steps.h.
#include "maco-effect/steps.h"

#include "libcommon/base/clock.h"
#include "libcommon/base/text.h"

namespace maco::effect {
namespace {

constexpr std::size_t kMaxReason = 400;

std::string WhyUncertain(const Found& found) {
  if (found.ours.size() > 1) {
    return "the remote has it " + std::to_string(found.ours.size()) +
           " times: " + found.ours[0].id + ", " + found.ours[1].id;
  }
  return found.odd.empty() ? "the remote does not show it; lists may lag behind"
                           : found.odd.front();
}

}  // namespace

std::string Short(const std::string& reason) { return Shorten(EscapeControl(reason), kMaxReason); }

Result<Effect> Advance(const StateRoot& state, const std::string& id, const std::string& from,
                       Durability durability, const std::function<void(Effect&)>& change) {
  Effect out;
  MACO_TRY(ChangeEffects(
      state, durability, [&](const EffectTable& table) -> Result<std::vector<EffectStep>> {
        std::optional<Effect> row;
        MACO_ASSIGN(row, table.Find(id));
        if (!row || row->state != from) {
          return Fail(Code::kBusy, "effect " + id + " was changed by another command",
                      "look at it again: git maco effect show " + id);
        }
        out = *std::move(row);
        change(out);
        const bool done = !out.open() && out.state != "failed";
        return std::vector<EffectStep>{{out, std::nullopt, done}};
      }));
  return out;
}

Result<Effect> Observe(const StateRoot& state, const Effect& effect, const Receipt& receipt) {
  return Advance(state, effect.id, effect.state, Durability::kRecord, [&](Effect& row) {
    row.state = "observed";
    row.receipt = receipt;
    row.observed_us = WallMicros();
    row.reason.clear();
  });
}

Result<Effect> Explain(const StateRoot& state, const Effect& effect, const std::string& reason) {
  if (effect.reason == Short(reason)) {
    return effect;
  }
  return Advance(state, effect.id, effect.state, Durability::kRecord,
                 [&](Effect& row) { row.reason = Short(reason); });
}

Result<Effect> Complete(const Sending& sending, const Effect& effect) {
  const auto look = sending.transport->Fetch(effect);
  if (!look) {
    return Explain(*sending.state, effect, "not read back: " + Describe(look.error()));
  }
  if (look->kind == Look::Kind::kGone || look->kind == Look::Kind::kChanged) {
    return Explain(*sending.state, effect, look->words);
  }
  return Advance(*sending.state, effect.id, "observed", Durability::kRecord, [&](Effect& row) {
    row.state = "completed";
    row.completed_us = WallMicros();
    row.reason = look->kind == Look::Kind::kLater ? Short(look->words) : "";
  });
}

Result<Effect> Adopt(const Sending& sending, const Effect& effect, const Found& found,
                     const std::string& before) {
  if (found.ours.size() != 1) {
    return Explain(*sending.state, effect,
                   (before.empty() ? "" : before + "; ") + WhyUncertain(found));
  }
  Effect observed;
  MACO_ASSIGN(observed, Observe(*sending.state, effect, found.ours.front()));
  return Complete(sending, observed);
}

}  // namespace maco::effect

// By name from the log, else from archives; by state from the log alone.
// Contract: maco-effect/choice.h.
#include "maco-effect/choice.h"

#include <algorithm>

#include "maco-effect/archive_segment.h"

namespace maco::effect {

Result<Effect> ChooseEffect(const StateRoot& state, const EffectTable& table,
                            const std::string& text, Where where) {
  auto effect = table.Choose(text);
  if (effect || where == Where::kLog || effect.error().code != Code::kNotFound) {
    return effect;
  }
  std::optional<Effect> archived;
  MACO_ASSIGN(archived, ChooseArchived(state, table, text));
  return archived ? Result<Effect>(*std::move(archived)) : effect;
}

Result<Choice> ChooseEffects(const StateRoot& state, const EffectTable& table,
                             const Wanted& wanted) {
  Choice out;
  for (const auto& name : wanted.names) {
    Effect effect;
    MACO_ASSIGN(effect, ChooseEffect(state, table, name, wanted.where));
    out.effects.push_back(std::move(effect));
  }
  if (!wanted.names.empty()) {
    return out;
  }
  for (auto& effect : table.All(out.damaged)) {
    if (std::ranges::find(wanted.states, effect.state) != wanted.states.end()) {
      out.effects.push_back(std::move(effect));
    }
  }
  return out;
}

}  // namespace maco::effect

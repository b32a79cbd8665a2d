// From a row and its lock to words.
// Contract: libcommon/effect/effect_sight.h.
#include "libcommon/effect/effect_sight.h"

#include "libcommon/base/text.h"

namespace maco {

std::string EffectWords(const Effect& effect) {
  const std::string where = EscapeControl(effect.repository);
  const std::string target = EscapeControl(effect.target);
  if (effect.operation == "push") {
    return "push " + target + " to " + where;
  }
  if (effect.operation == "pr") {
    return "pull request " + target + " in " + where;
  }
  if (effect.operation == "comment") {
    return "comment on " + target + " in " + where;
  }
  return "issue in " + where;
}

EffectSight LookAtEffect(const StateRoot& state, const Effect& effect) {
  EffectSight sight;
  sight.id = effect.id;
  sight.state = effect.state;
  sight.what = EffectWords(effect);
  sight.url = effect.receipt.url;
  sight.reason = effect.reason;
  if (!effect.open()) {
    if (effect.state == "failed") {
      sight.next = "git maco effect send " + effect.id;
    }
    return sight;
  }
  const auto locked = EffectLocked(state, effect.id);
  const bool busy = locked && *locked;
  if (effect.state == "planned") {
    sight.next = busy ? "" : "git maco effect send " + effect.id;
    return sight;
  }
  if (busy) {
    sight.state = "sending";
    return sight;
  }
  sight.urgent = true;
  sight.next = "git maco effect recover " + effect.id;
  if (effect.state == "started") {
    sight.state = "uncertain";
  }
  return sight;
}

}  // namespace maco

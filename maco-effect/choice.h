// Which effects a command is about: those that were named, or all of some states.
#pragma once

#include <string>
#include <vector>

#include "libcommon/auth/state_root.h"
#include "libcommon/effect/effect_log.h"

namespace maco::effect {

enum class Where { kLog, kArchivesToo };

// The one whose id is `text` or begins with it (4 digits or more). Archives are read only if the
// log has none. Errors: as EffectTable::Choose; those of reading archives.
Result<Effect> ChooseEffect(const StateRoot& state, const EffectTable& table,
                            const std::string& text, Where where);

struct Choice {
  std::vector<Effect> effects;
  std::vector<Error> damaged;  // rows that do not decode, and may be meant; only without names
};

struct Wanted {
  std::vector<std::string> names;
  std::vector<std::string> states;  // without names: all of the log that are in one of these
  Where where = Where::kLog;
};

// Errors: as ChooseEffect.
Result<Choice> ChooseEffects(const StateRoot& state, const EffectTable& table,
                             const Wanted& wanted);

}  // namespace maco::effect

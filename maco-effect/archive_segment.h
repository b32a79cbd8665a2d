// Archives of effects: rows that left the log, in logs of their own (EFF-05).
// Contract: docs/formats/effect.md ("Archives").
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "libcommon/auth/state_root.h"
#include "libcommon/effect/effect_log.h"

namespace maco::effect {

// Moves them into a new archive and returns its six digits. A part that a crash left is made anew.
// Errors: kLimit, kIo, kNotFound (one was changed meanwhile).
Result<std::string> ArchiveEffects(const StateRoot& state, const EffectTable& table,
                                   const std::vector<Effect>& effects);

// All effects of one archive, each record verified, and the whole held against its row. Errors:
// kCorrupt, those of opening.
Result<std::vector<Effect>> ReadArchive(const StateRoot& state, const std::string& number,
                                        const Json& row);

// The first effect in any archive that is `wanted`. Errors: as ReadArchive.
Result<std::optional<Effect>> FindArchived(const StateRoot& state, const EffectTable& table,
                                           const std::function<bool(const Effect&)>& wanted);

}  // namespace maco::effect

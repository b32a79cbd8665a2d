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

struct Archived {
  std::string number;  // six digits; empty: nothing was to be moved
  std::vector<Effect> effects;
};
using ArchiveChoice = std::function<std::vector<Effect>(const EffectTable& table)>;

// Moves what `choose` takes into a new archive. One at a time, from the look at the rows to the
// commit, so that no file is removed that a row names. A part that a crash left is made anew.
// Errors: kLimit, kIo, kNotFound (one was changed meanwhile).
Result<Archived> ArchiveEffects(const StateRoot& state, const ArchiveChoice& choose);

// All effects of one archive, each record verified, and the whole held against its row. Errors:
// kCorrupt, those of opening.
Result<std::vector<Effect>> ReadArchive(const StateRoot& state, const std::string& number,
                                        const Json& row);

// The first effect in any archive that is `wanted`. Errors: as ReadArchive.
Result<std::optional<Effect>> FindArchived(const StateRoot& state, const EffectTable& table,
                                           const std::function<bool(const Effect&)>& wanted);

// The one in any archive whose id is `text` or begins with it. Errors: kInvalid (several), as
// ReadArchive.
Result<std::optional<Effect>> ChooseArchived(const StateRoot& state, const EffectTable& table,
                                             const std::string& text);

}  // namespace maco::effect

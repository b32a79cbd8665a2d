// How an effect is printed: lines for people, documents for scripts.
#pragma once

#include <string>

#include "libcommon/auth/json.h"
#include "libcommon/effect/effect_sight.h"

namespace maco::effect {

Json Document(const EffectSight& sight, const Effect& effect);

// What became of it, in one line for standard output or, if it is not completed, for a note.
std::string Sentence(const Effect& effect);

// Prints the outcome of a command on one effect and returns its status: 0 in the state `goal`, else
// that of StatusOf.
Result<int> Answer(const StateRoot& state, const Effect& effect, bool json,
                   const std::string& goal = "completed");

// A refusal after which nothing was sent or changed is a "no", whatever the cause: it is reported
// here, and 1 is returned. What is wrong with state, command line or program is handed on.
Result<int> SayNo(const Error& error);

}  // namespace maco::effect

// What a later look, or a person's word, makes of an effect that was cut short.
// Contract: docs/formats/effect.md ("States"). Requirement EFF-03.
#pragma once

#include <string>

#include "maco-effect/steps.h"

namespace maco::effect {

// Looks, never sends. Errors: those of looking, kBusy (somebody is sending it).
Result<Effect> RecoverEffect(const Sending& sending, const std::string& id);

struct OperatorWord {
  std::string receipt;  // to adopt; empty: to abandon it
  std::string note;
  bool dry_run = false;  // looks at all that the real one looks at, and changes nothing
};

// The operator's word. A receipt that does not fit what was asked for needs a note. Returns the
// effect as it is on record then. Errors: kUsage (no receipt), kRefused, kBusy (somebody is sending
// it), those of the log.
Result<Effect> ReconcileEffect(const Sending& sending, const std::string& id,
                               const OperatorWord& word);

}  // namespace maco::effect

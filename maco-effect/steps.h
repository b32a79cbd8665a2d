// The steps that one effect takes on record, each while its row still is what it was.
// Contract: docs/formats/effect.md ("States"). Requirements EFF-02, EFF-03.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "libcommon/auth/state_root.h"
#include "libcommon/effect/effect_log.h"
#include "maco-effect/transport.h"

namespace maco::effect {

// What an effect is sent and looked for with. Borrows both.
struct Sending {
  const StateRoot* state = nullptr;
  Transport* transport = nullptr;
  // How long to go on looking for what may have been applied, before saying "uncertain".
  std::chrono::milliseconds settle{10'000};
};

// One line of bounded length, as rows have it.
std::string Short(const std::string& reason);

// Moves a row on, if its state still is `from`; returns it. Errors: kBusy, those of ChangeEffects.
Result<Effect> Advance(const StateRoot& state, const std::string& id, const std::string& from,
                       Durability durability, const std::function<void(Effect&)>& change);

// From started to observed. Errors: as Advance.
Result<Effect> Observe(const StateRoot& state, const Effect& effect, const Receipt& receipt);

// Says why it is not further. Errors: as Advance.
Result<Effect> Explain(const StateRoot& state, const Effect& effect, const std::string& reason);

// From observed to completed, if the remote still has what was asked for. Errors: as Advance.
Result<Effect> Complete(const Sending& sending, const Effect& effect);

// Adopts the one receipt that fits; any other number is a person's business (EFF-03). `before`:
// what is known besides, may be empty. Errors: as Advance.
Result<Effect> Adopt(const Sending& sending, const Effect& effect, const Found& found,
                     const std::string& before);

}  // namespace maco::effect

// One effect from planned to completed.
// Requirements EFF-02, EFF-03, EFF-04. Contract: docs/formats/effect.md ("States").
#pragma once

#include "libcommon/auth/state_root.h"
#include "libcommon/effect/effect_log.h"
#include "maco-effect/request.h"
#include "maco-effect/steps.h"

namespace maco::effect {

// Records it as planned, if nothing is known of it. Errors: kExists (the action has another payload
// already, here or in an archive; the effect was abandoned; or it is in an archive), those of the
// log.
Result<Effect> RecordPlan(const StateRoot& state, const Request& request, const Effect& plan);

// Sends it, unless it was sent: then what is known of it is returned, and nobody is asked. Returns
// the effect as it is on record then; its state says what became of it. Once the request has left
// there is no error: what cannot be recorded leaves the effect "started". Errors: those of Prepare
// (nothing was sent, nothing recorded), as RecordPlan, kBusy (a refusal said when to try again).
Result<Effect> SendEffect(const Sending& sending, Request request, const Effect& plan);

// 0, 1 or 122, as design section 6 has it.
int StatusOf(const Effect& effect);

}  // namespace maco::effect

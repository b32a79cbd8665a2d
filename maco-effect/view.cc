// Documents "maco.effect-view/1", and sentences.
// Contract: maco-effect/view.h.
#include "maco-effect/view.h"

#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"
#include "libcommon/base/text.h"
#include "libcommon/cli/document.h"
#include "libcommon/cli/output.h"
#include "maco-effect/place.h"
#include "maco-effect/send.h"

namespace maco::effect {

Json Document(const EffectSight& sight, const Effect& effect) {
  return {{"id", effect.id},
          {"operation", effect.operation},
          {"transport", effect.transport},
          {"repository", EscapeControl(effect.repository)},
          {"target", EscapeControl(effect.target)},
          {"action", EscapeControl(effect.action)},
          {"state", effect.state},
          {"sight", sight.state},
          {"reason", sight.reason},
          {"next", sight.next},
          {"attempts", effect.attempts},
          {"planned_us", effect.planned_us},
          {"started_us", effect.started_us},
          {"observed_us", effect.observed_us},
          {"completed_us", effect.completed_us},
          {"not_before_us", effect.not_before_us},
          {"actor_id", effect.actor_id},
          {"repository_id", effect.repository_id},
          {"marker", effect.marker},
          {"receipt",
           {{"id", EscapeControl(effect.receipt.id)},
            {"url", EscapeControl(effect.receipt.url)},
            {"number", effect.receipt.number}}},
          {"candidate", effect.candidate},
          {"evidence", effect.evidence},
          {"note", effect.note}};
}

std::string Sentence(const Effect& effect) {
  std::string out =
      EffectWords(effect) + ": " + (effect.state == "started" ? "uncertain" : effect.state);
  if (!effect.receipt.url.empty()) {
    out += ", " + EscapeControl(effect.receipt.url);
  }
  if (!effect.reason.empty()) {
    out += ": " + effect.reason;
  }
  return out;
}

Result<int> Answer(const StateRoot& state, const Effect& effect, bool json,
                   const std::string& goal) {
  const EffectSight sight = LookAtEffect(state, effect);
  const int status = effect.state == goal ? kExitOk : StatusOf(effect);
  if (json) {
    MACO_TRY(PrintDocument("maco.effect-view/1", Document(sight, effect)));
  } else {
    MACO_TRY(Print(effect.id + " " + Sentence(effect) + "\n"));
  }
  if (status != kExitOk && effect.state != "planned") {
    Note(kTool, Sentence(effect) + (sight.next.empty() ? "" : "; " + sight.next));
  }
  return status;
}

Result<int> SayNo(const Error& error) {
  if (error.code == Code::kCorrupt || error.code == Code::kTornTail ||
      error.code == Code::kInternal || error.code == Code::kPermission ||
      error.code == Code::kUsage) {
    return Fail(error);
  }
  Report(kTool, error);
  return kExitNo;
}

}  // namespace maco::effect

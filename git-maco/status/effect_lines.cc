// Lines and members about effects.
// Contract: git-maco/status/effect_lines.h.
#include "git-maco/status/effect_lines.h"

#include <algorithm>

#include "git-maco/status/line.h"
#include "libcommon/base/text.h"

namespace maco::status {

bool EffectSurvey::quiet() const {
  return damaged.empty() &&
         std::ranges::none_of(open, [](const EffectSight& sight) { return sight.urgent; });
}

EffectSurvey SurveyEffects(const StateRoot& state, const EffectTable& table) {
  EffectSurvey out;
  for (const auto& effect : table.All(out.damaged)) {
    ++out.by_state[effect.state];
    if (effect.open() || effect.state == "failed") {
      out.open.push_back(LookAtEffect(state, effect));
    }
  }
  return out;
}

std::string EffectsText(const EffectSurvey& survey) {
  if (survey.by_state.empty() && survey.damaged.empty()) {
    return {};
  }
  std::string counts;
  for (const auto& [state, count] : survey.by_state) {
    counts += (counts.empty() ? "" : ", ") + std::to_string(count) + " " + EscapeControl(state);
  }
  std::string out = Line("effects", counts.empty() ? "0" : counts);
  for (const auto& sight : survey.open) {
    out += Line(sight.urgent ? "EFFECT" : "effect",
                sight.id + ": " + sight.what + ": " + sight.state +
                    (sight.reason.empty() ? "" : ": " + sight.reason));
    out += Next(sight.next);
  }
  for (const auto& error : survey.damaged) {
    out += Line("DAMAGED", error.message) + Fix(error.remedy);
  }
  return out;
}

std::string EffectsPorcelain(const EffectSurvey& survey) {
  std::string out;
  for (const auto& sight : survey.open) {
    out += "effect " + sight.id + " " + sight.state + (sight.urgent ? " trouble\n" : " ok\n");
  }
  return out;
}

Json EffectsJson(const EffectSurvey& survey) {
  Json open = Json::array();
  for (const auto& sight : survey.open) {
    open.push_back({{"effect", sight.id},
                    {"state", sight.state},
                    {"what", sight.what},
                    {"reason", sight.reason},
                    {"urgent", sight.urgent},
                    {"next", sight.next}});
  }
  Json counts = Json::object();
  for (const auto& [state, count] : survey.by_state) {
    counts[EscapeControl(state)] = count;
  }
  return {{"by_state", std::move(counts)},
          {"open", std::move(open)},
          {"damaged", survey.damaged.size()}};
}

}  // namespace maco::status

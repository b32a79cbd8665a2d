// The effects in a survey: counted, and those that are not finished named.
// Printed as lines and in maco.status/1: git-maco-status(1).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libcommon/effect/effect_sight.h"

namespace maco::status {

struct EffectSurvey {
  std::map<std::string, std::uint64_t> by_state;
  std::vector<EffectSight> open;  // planned, on their way, uncertain, failed
  std::vector<Error> damaged;

  bool quiet() const;  // nobody has to look
};

EffectSurvey SurveyEffects(const StateRoot& state, const EffectTable& table);

std::string EffectsText(const EffectSurvey& survey);
std::string EffectsPorcelain(const EffectSurvey& survey);
Json EffectsJson(const EffectSurvey& survey);

}  // namespace maco::status

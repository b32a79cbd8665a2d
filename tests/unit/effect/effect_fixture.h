// Effects as maco-effect makes them. For the tests of libcommon/effect and maco-effect only.
#pragma once
#include <string>

#include "libcommon/effect/effect_row.h"

namespace maco {

// An id of 32 hex digits that ends with `number`.
inline std::string EffectId(std::size_t number) {
  const std::string digits = std::to_string(number);  // those of a number are hex digits too
  return std::string(kEffectIdDigits - digits.size(), 'e') + digits;
}

inline Effect PlannedEffect(std::size_t number) {
  Effect effect;
  effect.id = EffectId(number);
  effect.subject = std::string(kEffectIdDigits - 1, 'a') + std::to_string(number % 10);
  effect.operation = "pr";
  effect.transport = "github";
  effect.repository = "gh.test/acme/app";
  effect.target = "fx/topic -> main";
  effect.action = "auto-0123456789abcdef";
  effect.state = "planned";
  effect.planned_us = 1'800'000'000'000'000 + number;
  effect.marker = std::string(kEffectIdDigits, 'b');
  effect.content_sha256 = std::string(64, 'c');
  return effect;
}

// Everything that later steps can add to it.
inline Effect Completed(Effect effect, const std::string& words) {
  effect.state = "completed";
  effect.attempts = 18'446'744'073'709'551'615U;
  effect.started_us = effect.observed_us = effect.completed_us = effect.planned_us + 1'000'000;
  effect.since_us = effect.not_before_us = effect.planned_us;
  effect.actor_id = effect.repository_id = "18446744073709551615";
  effect.receipt = {effect.target + "@" + std::string(64, 'd'), "https://gh.test/" + words,
                    18'446'744'073'709'551'615U};
  effect.reason = effect.note = words;
  return effect;
}

}  // namespace maco

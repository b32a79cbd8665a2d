// What an effect shows to people: its state in one word, and what to type next.
#pragma once

#include <string>

#include "libcommon/effect/effect_log.h"

namespace maco {

struct EffectSight {
  std::string id;
  // As in the row, but a started one is "sending" while somebody is at it, else "uncertain".
  std::string state;
  std::string what;  // "push refs/heads/x to file:///srv/r.git"
  std::string url;
  std::string reason;
  std::string next;  // a command, may be empty
  bool urgent = false;
};

EffectSight LookAtEffect(const StateRoot& state, const Effect& effect);

// "issue in github.com/o/r", for messages. One line, escaped.
std::string EffectWords(const Effect& effect);

}  // namespace maco

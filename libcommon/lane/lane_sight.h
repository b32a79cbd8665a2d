// What a lane shows to people: its state in one word, what is wrong with it, what to type next.
#pragma once

#include <string>

#include "libcommon/lane/lane_registry.h"

namespace maco {

struct LaneSight {
  std::string name;
  std::string state;      // "creating", "removed", "tainted", "open", or that of its candidate
  std::string candidate;  // the newest; empty: none
  std::string trouble;    // empty: none
  std::string next;       // a command, may be empty
  bool urgent = false;    // something was cut short, or is gone
};

// Looks at the directory of the lane, and at nothing in it.
LaneSight LookAtLane(const LaneTable& table, const Lane& lane);

}  // namespace maco

// A lane's accepted candidate as the payload of an effect (EFF-07, WT-08).
#pragma once

#include <string>
#include <vector>

#include "maco-effect/place.h"

namespace maco::effect {

struct LanePayload {
  std::string lane;
  std::string candidate;
  std::string commit;                 // of the candidate's tree on its base
  std::vector<std::string> evidence;  // SHA-256 of each run's evidence, ascending
  std::string branch;                 // unique for the candidate: "maco/<lane>/<12 digits>"
  std::string title;
  std::string body;
};

// `text` is what `git maco worktree show --json` printed; only lane and candidate are taken from
// it, everything else is asked for again. Refused unless the candidate is accepted, the lane is not
// tainted, and every run that wrote it proves it or a person took that on their word. Makes the
// commit in the lane's own objects. Errors: kRefused, kInvalid, kCorrupt, kIo.
Result<LanePayload> TakeLane(const Place& place, const StateRoot& state, const std::string& text);

}  // namespace maco::effect

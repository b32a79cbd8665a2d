// Pace: one mutation at a time for a forge, and at least a second between two of them.
// Source: GitHub's "Best practices for using the REST API". No proof depends on it.
#pragma once

#include <string>

#include "libcommon/auth/state_root.h"
#include "libcommon/base/result.h"
#include "libcommon/os/fd.h"

namespace maco::effect {

// Held while a mutation is sent. Movable.
class Pace {
 public:
  // Waits for whoever has it, and for the second to pass. `origin` is that of the forge's API.
  // Errors: kIo.
  static Result<Pace> Take(const StateRoot& state, const std::string& origin);
  // The mutation was sent now.
  void Sent();

 private:
  explicit Pace(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace maco::effect

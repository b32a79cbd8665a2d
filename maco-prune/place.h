// What pruning works on: the state, its lock, the quarantine, the policy, and what others need.
// Errors: those of opening the state and of reading settings.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "libcommon/auth/json.h"
#include "libcommon/auth/state_root.h"
#include "libcommon/base/result.h"
#include "libcommon/os/fd.h"
#include "libcommon/state/retention.h"

namespace maco::prune {

inline constexpr char kTool[] = "git maco prune";
inline constexpr char kQuarantineName[] = "quarantine";  // in the state root

struct Place {
  std::unique_ptr<StateRoot> state;
  UniqueFd lock;  // of the family; not held for a look
};

// With Access::kWrite the lock is taken. Errors: kBusy (another prune is going on).
Result<Place> OpenPlace(Access access);

Result<Directory> OpenQuarantine(const StateRoot& state);

// The policy of the command line; what it does not say, maco.prune.* of the operator's settings.
Result<RetentionPolicy> PolicyFor(const RetentionPolicy& given);

}  // namespace maco::prune

// Which runs a policy keeps, and why: one pure decision, for pruning and for showing (PRN-04).
// Contract: git-maco-prune(1), "POLICY".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libcommon/auth/state_root.h"
#include "libcommon/base/result.h"
#include "libcommon/state/run_sight.h"

namespace maco {

struct RetentionPolicy {
  // Rules that protect: the newest runs, the newest of each of the last days or weeks (UTC) that
  // have any.
  std::optional<std::uint64_t> keep;
  std::optional<std::uint64_t> keep_daily;
  std::optional<std::uint64_t> keep_weekly;
  // Rules that delete what no rule protects. Without them all goes that is not protected.
  std::optional<std::uint64_t> max_age_seconds;
  std::optional<std::uint64_t> max_bytes;  // of all with such an outcome, kept ones too
  std::vector<std::string> outcomes;       // only these; empty: all. As in the final record

  bool empty() const {
    return !keep && !keep_daily && !keep_weekly && !max_age_seconds && !max_bytes;
  }
};

// One run as far as retention is concerned.
struct RetainedRun {
  std::string id;
  std::uint64_t time_us = 0;  // of its final record
  std::uint64_t bytes = 0;
  std::uint64_t files = 0;
  std::string outcome;
  std::string held_back;  // why it may not be deleted whatever the policy; empty: it may
  bool deleted = false;   // the decision
  std::string reason;     // for it
};

// What a look at one run says. Pure.
RetainedRun RetentionOf(const RunSight& sight);

// Looks at all runs. Errors: kPermission, kLimit, kIo.
Result<std::vector<RetainedRun>> ListRetained(const StateRoot& state);

// Holds back the runs that others need. `needed`: with the reason; read after the runs were looked
// at, since a run may end, and be the newest that something needs, in between. Pure.
void HoldBack(const std::map<std::string, std::string>& needed, std::vector<RetainedRun>& runs);

// Fills in the decisions. Pure.
void Decide(const RetentionPolicy& policy, std::uint64_t now_us, std::vector<RetainedRun>& runs);

}  // namespace maco

// The prune log: which runs were deleted, when and by whom. What is not in it was not deleted by
// us. Contract: docs/formats/prune.md. Requirement PRN-02.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "libcommon/auth/state_root.h"
#include "libcommon/base/result.h"

namespace maco {

struct PrunedRun {
  std::string run;
  std::uint64_t inode = 0;    // of its directory
  std::string last_mac;       // hex, of the last record of its journal
  std::uint64_t records = 0;  // in its journal
  std::uint64_t bytes = 0;    // of its files
  std::uint64_t files = 0;
  std::string reason;
  std::uint64_t begun_us = 0;
  bool done = false;  // else it is, or was, in quarantine
};

// By the id of the run. Errors: those of opening a journal, kCorrupt.
Result<std::map<std::string, PrunedRun>> ReadPruneLog(const StateRoot& state);

// What is to be deleted; durable before anything is moved. One batch, at most 512 runs. Errors:
// those of appending.
Result<void> RecordPruneBegun(const StateRoot& state, const std::vector<PrunedRun>& runs);
// What is gone, or was given back ("restored").
Result<void> RecordPruneEnded(const StateRoot& state, const std::vector<std::string>& runs,
                              const std::string& how);

}  // namespace maco

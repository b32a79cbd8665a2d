// What is in the quarantine, and whether it may be deleted without asking (PRN-02, PRN-03).
#pragma once

#include <string>
#include <vector>

#include "libcommon/auth/state_root.h"
#include "libcommon/base/result.h"
#include "libcommon/state/prune_log.h"
#include "maco-prune/delete_tree.h"

namespace maco::prune {

struct Entry {
  std::string name;         // "<id>.<inode>", or what somebody else put there
  std::string run;          // empty: it is not of ours
  std::uint64_t inode = 0;  // that the name says
  bool parts = false;       // some of it was moved up already
  std::string stuck;        // why it is not deleted by itself; empty: it is
};

// One entry for each run; parts of one belong to it. Errors: kIo, kLimit, those of the prune log.
Result<std::vector<Entry>> ListQuarantine(const StateRoot& state, const Directory& quarantine);

// How many descriptors may be in use at once, for something that takes many of them.
std::size_t SpareDescriptors();
// Threads for so many tasks that hold `each` descriptors at once.
std::size_t Workers(std::size_t tasks, std::size_t each);

// Deletes entries on all cores. Returns for each its counts, or why it is stuck.
struct Removal {
  Entry entry;
  Result<Deleted> result;
};
std::vector<Removal> RemoveEntries(const Directory& quarantine, const std::vector<Entry>& entries,
                                   Names names);

}  // namespace maco::prune

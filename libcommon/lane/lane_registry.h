// LaneRegistry: the store "lanes" with typed rows, to read or to write; and the lease of a lane.
// Contract: docs/formats/lane.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libcommon/auth/state_root.h"
#include "libcommon/lane/lane_rows.h"
#include "libcommon/os/fd.h"
#include "libcommon/store/store.h"

namespace maco {

// All rows, decoded. A row that does not decode is in `damaged` and hides no other one.
struct LaneTable {
  std::map<std::string, Lane> lanes;  // by name
  std::map<std::string, Claim> claims;
  std::map<std::string, Intent> intents;
  std::map<std::string, Candidate> candidates;
  std::map<std::string, LaneRun> writers;      // by key
  std::map<std::string, LaneRun> validations;  // by key
  std::map<std::string, Apply> applies;
  std::vector<Error> damaged;

  // Errors: kNotFound (none of that name, or it was removed), kInvalid (no name of a lane).
  Result<Lane> Find(const std::string& name) const;
};

StoreLimits LaneStoreLimits();

// The table as it is now; empty if no lane was ever made. Errors: as ReadStore.
Result<LaneTable> ReadLanes(const StateRoot& state);

// Open for writing, under the lock of the store, which it waits for. Movable.
class LaneRegistry {
 public:
  // Errors: as Store::Open.
  static Result<LaneRegistry> Open(const StateRoot& state);
  const LaneTable& table() const { return table_; }
  // One commit, record and head durable. Errors: as Store::Commit.
  Result<void> Commit(const StoreChange& change);
  Result<void> Close() { return store_.Close(); }

 private:
  explicit LaneRegistry(Store store) : store_(std::move(store)) {}
  Store store_;
  LaneTable table_;
};

// The directory of a lane in the state root. Errors: kNotFound, kPermission, kIo.
Result<Directory> OpenLaneDirectory(const StateRoot& state, const std::string& lane_id);

enum class LeaseKind { kRead, kWrite };

// Holds the lane as long as the descriptor is open. Errors: kBusy (a run or a command of ours has
// it), kNotFound, kIo.
Result<UniqueFd> TakeLease(const StateRoot& state, const Lane& lane, LeaseKind kind);

// Whether somebody holds it. Errors: kNotFound, kIo.
Result<bool> LeaseHeld(const StateRoot& state, const Lane& lane);

}  // namespace maco

// Store: one table of authenticated rows, open for writing; under its lock from Open to the end.
// Contract: docs/formats/store.md. Requirements SNAP-01, SNAP-02, SNAP-03.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libcommon/auth/json.h"
#include "libcommon/base/result.h"
#include "libcommon/log/log_writer.h"
#include "libcommon/os/directory.h"
#include "libcommon/os/fd.h"
#include "libcommon/store/locator.h"
#include "libcommon/store/store_directory.h"
#include "libcommon/store/store_limits.h"
#include "libcommon/store/table.h"

namespace maco {

struct StoreOptions {
  bool create = false;           // make the store if there is none
  LogLock lock = LogLock::kTry;  // or wait for the writer that holds it
  StoreLimits limits;
};

// One commit. No key may be in both; a key to delete must be there.
struct StoreChange {
  std::map<std::string, Json> put;  // whole rows, objects
  std::vector<std::string> erase;   // "delete" in the record; any order
  // It lets go of something, so the reserved room is for it. Without `put` it is a release anyway.
  // May only replace rows, each by one of at most `release_bytes` (StoreLimits).
  bool release = false;
};

// Movable, not thread-safe. What `access` borrows must outlive it.
class Store {
 public:
  // Opens a store, or completes its creation; mends what a crash left. Reads the active journal
  // only. Errors: kNotFound (no store, or its creation was cut short; without `create`), kBusy,
  // kInvalid (name, limits), kLimit (stores, names; nothing was created), kPermission, kCorrupt,
  // kTornTail, kUnsupported (a later version), kIo.
  static Result<Store> Open(const StoreAccess& access, const std::string& name,
                            const StoreOptions& options);

  // One generation: the whole change, durable when it returns; head too with kRecordAndHead.
  // Returns the new generation. Errors, after which nothing was written and the store is usable:
  // kLimit (a quota; no room, then releases still go), kInvalid, kNotFound (a key to delete),
  // kCorrupt (a row that cannot be written). Any other failure (kIo, kLimit for a full disk) may
  // poison it: then every call fails with kIo, and the store must be opened again.
  Result<std::uint64_t> Commit(const StoreChange& change, Durability durability);

  // One generation for each change, with one flush; all or none. Returns the last generation. As a
  // whole it is a release only if every change is. Errors: as Commit.
  Result<std::uint64_t> CommitGroup(std::span<const StoreChange> changes, Durability durability);

  // Begins a new journal with the present table, whether or not there is need: to compact, or after
  // the key was changed. Errors: kLimit (retained journals, disk; still usable), kIo.
  Result<void> Rollover();

  // Forgets the retained journals up to number `through` and removes them, after they were put into
  // an archive; `terminal_mac` is that of journal `through` there. Errors: kInvalid (not retained,
  // or another MAC), kLimit (disk full), kIo.
  Result<void> DropRetained(std::uint64_t through, const Mac& terminal_mac);

  // Makes the last head durable, gives up the locks. Errors: kIo.
  Result<void> Close();

  const std::string& name() const { return locator_.store; }
  const Table& table() const { return table_; }
  std::uint64_t generation() const { return generation_; }
  const Locator& locator() const { return locator_; }
  StoreFill Fill() const;

 private:
  struct Plan;

  Store(const StoreAccess& access, Directory directory, UniqueFd lock, const StoreLimits& limits);

  // store_open.cc
  Result<void> Begin(const StoreOptions& options);
  Result<void> FinishCreation(const Inventory& inventory);
  Result<void> OpenExisting(const Inventory& inventory);
  Result<void> Mend(const Inventory& inventory);
  Result<void> DiscardPrepared(const Inventory& inventory);
  Result<void> ClearIntent();
  Result<void> LeaveOldKey();

  // store_commit.cc
  Result<Plan> MakePlan(std::span<const StoreChange> changes);
  Result<void> PlanOne(const StoreChange& change, Plan& plan);
  Result<void> CheckRelease(const StoreChange& change) const;
  Result<void> CheckQuotas(const Plan& plan) const;
  Result<void> MakeRoom(const Plan& plan);
  Result<void> Reserve(const Plan& plan);
  bool Fits(const Plan& plan, std::uint64_t end, std::uint64_t records) const;

  // store_rollover.cc
  Result<void> CheckRollover() const;
  Result<LogWriter> MakeJournal(std::uint64_t n);
  Result<void> SwitchTo(LogWriter fresh);
  void AbandonPrepared();
  Result<void> ReplaceLocator(Locator next);

  Result<void> CheckUsable() const;
  Error Full(const std::string& what, const std::string& remedy) const;

  StoreAccess access_;
  Directory directory_;
  UniqueFd lock_;
  StoreLimits limits_;
  Locator locator_;
  std::string locator_text_;  // the bytes on disk, empty if there are none
  std::unique_ptr<LogWriter> writer_;
  Table table_;
  std::uint64_t generation_ = 0;
  bool poisoned_ = false;
};

}  // namespace maco

// EffectLog: the write-ahead log of effects, the store "effects", with typed rows.
// Contract: docs/formats/effect.md. Requirements EFF-01, EFF-02, EFF-05.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libcommon/auth/state_root.h"
#include "libcommon/effect/effect_row.h"
#include "libcommon/os/fd.h"
#include "libcommon/store/store.h"
#include "libcommon/store/store_reader.h"

namespace maco {

inline constexpr char kEffectStore[] = "effects";

StoreLimits EffectStoreLimits();

// The rows at one moment. They are decoded when asked for.
class EffectTable {
 public:
  EffectTable() : rows_(std::make_shared<Table>()) {}
  explicit EffectTable(std::shared_ptr<const Table> rows) : rows_(std::move(rows)) {}

  // Errors: kCorrupt, kUnsupported (the row). Nothing if there is no such effect.
  Result<std::optional<Effect>> Find(const std::string& id) const;
  // The one whose id is `text` or begins with it (4 digits or more). Errors: kNotFound, kInvalid
  // (several), kCorrupt, kUnsupported.
  Result<Effect> Choose(const std::string& text) const;
  // The request of an effect that is not finished, else null.
  const Json* RequestOf(const std::string& id) const;
  // The effect with that subject that was applied, or may be: not one that failed or was abandoned.
  std::optional<Effect> WithSubject(const std::string& subject) const;
  // What rows say of archives, by their six digits.
  std::map<std::string, Json> Archives() const;
  // In the order in which they were planned; those that do not decode are in `damaged`.
  std::vector<Effect> All(std::vector<Error>& damaged) const;

 private:
  Result<Effect> Decode(const std::string& key, const Json& row) const;  // with its evidence

  std::shared_ptr<const Table> rows_;  // never null
};

// Empty if there was never an effect. Errors: as ReadStore.
Result<EffectTable> ReadEffects(const StateRoot& state);

// One step of an effect: its row, its request where it is to be kept, or nothing more of it.
struct EffectStep {
  Effect effect;
  std::optional<Json> request;  // put with the row
  bool forget_request = false;  // it is not needed any more
};

std::string EffectArchiveKey(const std::string& number);

// Puts effects into an archive: their rows go, one about the archive comes, in one commit. Errors:
// kNotFound (a row is not as it was), kExists (there is an archive of that number), those of
// Store::Open and Store::Commit.
Result<void> MoveToArchive(const StateRoot& state, const std::vector<Effect>& effects,
                           const std::string& number, Json archive);

// Opens the log, waiting for its lock, and commits what `decide` says of the rows as they are now:
// no step, and nothing is written. Several steps become durable together. Errors: as Store::Open
// and Store::Commit, those of `decide`.
using EffectDecision = std::function<Result<std::vector<EffectStep>>(const EffectTable& table)>;
Result<void> ChangeEffects(const StateRoot& state, Durability durability,
                           const EffectDecision& decide);

// Held by whoever moves one effect on, for as long as it does. Waits, or kBusy. Another name than
// an id is that of something else which one at a time does. Errors: kIo.
Result<UniqueFd> LockEffect(const StateRoot& state, const std::string& id, LogLock wait);
// Removes the file of a lock that is held, before it is given up.
void RemoveEffectLock(const StateRoot& state, const std::string& id);
// Whether somebody does. Errors: kIo.
Result<bool> EffectLocked(const StateRoot& state, const std::string& id);

// The directory for locks and for the repository that pushes. Errors: kPermission, kIo.
Result<Directory> OpenEffectDirectory(const StateRoot& state);

}  // namespace maco

// StateRoot: the owner-private directory <git common dir>/maco with its key and identity, open.
// Contract: docs/formats/repository.md. Requirements JRN-01, JRN-10.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "libcommon/auth/key_file.h"
#include "libcommon/auth/mac.h"
#include "libcommon/auth/repository_identity.h"
#include "libcommon/base/result.h"
#include "libcommon/os/directory.h"

namespace maco {

inline constexpr char kStateRootName[] = "maco";

// What to do when the Git directory is not where the identity says.
enum class IfMoved { kRefuse, kReport };

// What the state is opened for. Whoever writes holds `use` shared, so that no rekey takes place
// meanwhile.
enum class Access { kRead, kWrite };

// Movable, not copyable. Holds the key: the process is non-dumpable from the first call on.
class StateRoot {
 public:
  // Opens the state of the repository whose common Git directory is `common_dir`. Errors: kNotFound
  // (not initialized), kPermission (owner, mode, links), kCorrupt (key or identity damaged or
  // missing), kRefused (moved, copied or restored; only with IfMoved::kRefuse), kUnsupported, kIo,
  // kBusy (a rekey is going on; only with Access::kWrite).
  static Result<StateRoot> Open(const Directory& common_dir, IfMoved if_moved = IfMoved::kRefuse,
                                Access access = Access::kRead);

  // Creates what is missing and opens it; doing so again changes nothing. Several at once give one
  // state root. After a crash at any point a later call completes the work. Errors: as Open without
  // kNotFound, and kLimit.
  static Result<StateRoot> Initialize(const Directory& common_dir);

  // Accepts the present place of the Git directory: for `git maco journal rebind`, which an
  // operator runs after moving or restoring it. The id and the key stay. Errors: as Open, and
  // kLimit.
  static Result<StateRoot> Rebind(const Directory& common_dir);

  // Gives the repository a new key: the present one is kept as key.<epoch> to verify what it
  // signed, and everything from now on is signed by the new one. `seal` gets the new key, durable
  // but not yet in force, and records what the old key signed; if it fails, or the process ends,
  // nothing has changed. Calling Rekey again completes one that was cut short. Errors: as Open,
  // those of `seal`, kBusy (somebody writes state), kLimit.
  using SealFunction = std::function<Result<void>(const StateRoot& old_root, const EpochKey& next)>;
  static Result<StateRoot> Rekey(const Directory& common_dir, const SealFunction& seal);

  // Whether Initialize would have to create something. Errors: kPermission, kIo.
  static Result<bool> Missing(const Directory& common_dir);

  const Directory& dir() const { return dir_; }
  // The repository's key, and which it is.
  const Key& key() const { return key_.key; }
  std::uint32_t epoch() const { return key_.epoch; }
  // The key of that epoch, for what was written before a rekey. Errors: kCorrupt (no such epoch, or
  // its key is missing), those of LoadKeyFile.
  Result<const Key*> KeyOf(std::uint32_t epoch) const;
  const std::string& repository_id() const { return identity_.id; }
  const RepositoryIdentity& identity() const { return identity_; }
  // Where the Git directory is now; differs from identity().place when moved() is true.
  const RepositoryPlace& observed() const { return observed_; }
  bool moved() const { return !observed_.SamePlace(identity_.place); }

 private:
  StateRoot(Directory dir, EpochKey key, RepositoryIdentity identity, RepositoryPlace observed);
  Directory dir_;
  EpochKey key_;
  std::vector<Result<EpochKey>> retired_;  // of epochs 0, 1, ...
  RepositoryIdentity identity_;
  RepositoryPlace observed_;
  UniqueFd use_;  // the shared lock, with Access::kWrite
};

}  // namespace maco

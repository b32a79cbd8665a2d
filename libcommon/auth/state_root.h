// StateRoot: the owner-private directory <git common dir>/maco with its key and identity, open.
// Contract: docs/formats/repository.md. Requirements JRN-01, JRN-10.
#pragma once
#include <string>

#include "libcommon/auth/key_file.h"
#include "libcommon/auth/mac.h"
#include "libcommon/auth/repository_identity.h"
#include "libcommon/base/result.h"
#include "libcommon/os/directory.h"

namespace maco {

inline constexpr char kStateRootName[] = "maco";

// What to do when the Git directory is not where the identity says.
enum class IfMoved { kRefuse, kReport };

// Movable, not copyable. Holds the key: the process is non-dumpable from the first call on.
class StateRoot {
 public:
  // Opens the state of the repository whose common Git directory is `common_dir`. Errors: kNotFound
  // (not initialized), kPermission (owner, mode, links), kCorrupt (key or identity damaged or
  // missing), kRefused (moved, copied or restored; only with IfMoved::kRefuse), kUnsupported, kIo.
  static Result<StateRoot> Open(const Directory& common_dir, IfMoved if_moved = IfMoved::kRefuse);

  // Creates what is missing and opens it; doing so again changes nothing. Several at once give one
  // state root. After a crash at any point a later call completes the work. Errors: as Open without
  // kNotFound, and kLimit.
  static Result<StateRoot> Initialize(const Directory& common_dir);

  // Accepts the present place of the Git directory: for `git maco journal rebind`, which an
  // operator runs after moving or restoring it. The id and the key stay. Errors: as Open, and
  // kLimit.
  static Result<StateRoot> Rebind(const Directory& common_dir);

  // Whether Initialize would have to create something. Errors: kPermission, kIo.
  static Result<bool> Missing(const Directory& common_dir);

  const Directory& dir() const { return dir_; }
  const Key& key() const { return key_; }
  const std::string& repository_id() const { return identity_.id; }
  const RepositoryIdentity& identity() const { return identity_; }
  // Where the Git directory is now; differs from identity().place when moved() is true.
  const RepositoryPlace& observed() const { return observed_; }
  bool moved() const { return !observed_.SamePlace(identity_.place); }

 private:
  StateRoot(Directory dir, Key key, RepositoryIdentity identity, RepositoryPlace observed);
  Directory dir_;
  Key key_;
  RepositoryIdentity identity_;
  RepositoryPlace observed_;
};

}  // namespace maco

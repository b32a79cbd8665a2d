// Opening, creating and rebinding the state root.
// Contract: libcommon/auth/state_root.h, docs/formats/repository.md.
#include "libcommon/auth/state_root.h"

#include <fcntl.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "libcommon/base/byte_codec.h"
#include "libcommon/os/atomic_file.h"
#include "libcommon/os/bounded_read.h"
#include "libcommon/os/ofd_lock.h"

namespace maco {
namespace {

constexpr char kLockName[] = "lock";  // serializes creation and rebinding
constexpr char kUseName[] = "use";    // shared by who writes state, exclusive for a rekey
constexpr char kTemporaryPrefix[] = ".tmp-";
constexpr std::size_t kMaxNames = 4096;
constexpr std::uint32_t kMaxEpochs = 1000;

Error NotInitialized() {
  return MakeError(Code::kNotFound, "this repository has no maco state", "run 'git maco init'");
}

Error Incomplete(std::string_view missing) {
  return MakeError(Code::kCorrupt,
                   "'maco/" + std::string(missing) + "' is missing in the Git directory",
                   "restore it from a backup");
}

Error Moved(const RepositoryPlace& recorded) {
  return MakeError(
      Code::kRefused,
      "this repository was moved, copied or restored; its state belongs to '" + recorded.path + "'",
      "check that no copy is in use, then run 'git maco journal rebind'");
}

Result<Directory> OpenRoot(const Directory& common_dir) {
  auto dir = common_dir.Open(kStateRootName);
  if (!dir) {
    return Fail(dir.error().code == Code::kNotFound ? NotInitialized() : dir.error());
  }
  FileIdentity identity;
  MACO_ASSIGN(identity, dir->Identity());
  MACO_TRY(RequirePrivateDirectory(identity, kStateRootName));
  return dir;
}

Result<bool> Has(const Directory& dir, const char* name) {
  const auto identity = dir.Stat(name);
  if (!identity && identity.error().code != Code::kNotFound) {
    return Fail(identity.error());
  }
  return identity.has_value();
}

Result<std::string> ReadIdentityFile(const Directory& dir) {
  UniqueFd fd;
  MACO_ASSIGN(fd, dir.OpenFile(kRepositoryFileName, O_RDONLY | O_NONBLOCK));
  FileIdentity identity;
  MACO_ASSIGN(identity, IdentityOf(fd.get()));
  MACO_TRY(RequirePrivateFile(identity, "maco/repository"));
  return ReadAll(fd.get(), kMaxRepositoryFileBytes);
}

Result<void> WriteIdentityFile(const Directory& dir, const RepositoryIdentity& identity,
                               const Key& key) {
  std::string text;
  MACO_ASSIGN(text, EncodeIdentity(identity, key));
  return WriteAtomically(dir, kRepositoryFileName, AsBytes(text));
}

Result<UniqueFd> LockRoot(const Directory& dir) {
  UniqueFd fd;
  MACO_ASSIGN(fd, OfdLock::OpenLocked(dir, kLockName, O_RDWR | O_CREAT, 0600, true));
  return fd;
}

Result<UniqueFd> OpenUse(const Directory& dir) {
  UniqueFd fd;
  MACO_ASSIGN(fd, dir.OpenFile(kUseName, O_RDWR | O_CREAT | O_NONBLOCK, 0600));
  FileIdentity identity;
  MACO_ASSIGN(identity, IdentityOf(fd.get()));
  MACO_TRY(RequirePrivateFile(identity, "maco/use"));
  return fd;
}

Result<UniqueFd> HoldUse(const Directory& dir) {
  UniqueFd fd;
  MACO_ASSIGN(fd, OpenUse(dir));
  if (auto held = OfdLock::TryLockShared(fd.get()); !held) {
    return Fail(held.error().code == Code::kBusy
                    ? MakeError(Code::kBusy, "this repository is being given a new key",
                                "try again in a moment")
                    : std::move(held).error());
  }
  return fd;
}

Result<UniqueFd> ExcludeUse(const Directory& dir) {
  UniqueFd fd;
  MACO_ASSIGN(fd, OpenUse(dir));
  if (auto held = OfdLock::TryLock(fd.get()); !held) {
    return Fail(held.error().code == Code::kBusy
                    ? MakeError(Code::kBusy, "a run or another maco command writes state now",
                                "wait until it is over; see 'git maco status'")
                    : std::move(held).error());
  }
  return fd;
}

// Removes temporaries of a creation that was cut short; they may hold a key that was never used.
// The lock is held, so no one is writing them.
Result<void> RemoveTemporaries(const Directory& dir) {
  std::vector<std::string> names;
  MACO_ASSIGN(names, dir.List(kMaxNames));
  for (const std::string& name : names) {
    if (name.starts_with(kTemporaryPrefix)) {
      MACO_TRY(dir.Unlink(name));
    }
  }
  return {};
}

// Whether the root holds more than creation itself makes.
Result<bool> HoldsState(const Directory& dir) {
  std::vector<std::string> names;
  MACO_ASSIGN(names, dir.List(kMaxNames));
  return std::ranges::any_of(names, [](const std::string& name) {
    return name != kLockName && name != kUseName && name != kKeyFileName &&
           name != kRepositoryFileName && !name.starts_with(kTemporaryPrefix);
  });
}

// Creates key and identity as far as they are missing, in this order, each durable before the next:
// an identity without its key, or state without an identity, is damage and never papered over.
Result<void> CompleteRoot(const Directory& common_dir, const Directory& dir) {
  bool has_key = false;
  bool has_identity = false;
  bool holds_state = false;
  MACO_ASSIGN(has_key, Has(dir, kKeyFileName));
  MACO_ASSIGN(has_identity, Has(dir, kRepositoryFileName));
  MACO_ASSIGN(holds_state, HoldsState(dir));
  if (!has_key && (has_identity || holds_state)) {
    return Fail(Incomplete(kKeyFileName));
  }
  if (!has_identity && holds_state) {
    return Fail(Incomplete(kRepositoryFileName));
  }
  MACO_TRY(RemoveTemporaries(dir));
  if (has_identity) {
    return {};
  }
  auto key = has_key ? LoadKeyFile(dir) : CreateKeyFile(dir);
  if (!key) {
    return Fail(std::move(key).error());
  }
  RepositoryPlace place;
  MACO_ASSIGN(place, ObservePlace(common_dir));
  RepositoryIdentity identity;
  MACO_ASSIGN(identity, NewIdentity(std::move(place)));
  return WriteIdentityFile(dir, identity, key->key);
}

// Keys of past epochs are needed only for old journals: what is wrong with one is told when it is
// asked for.
std::vector<Result<EpochKey>> LoadRetiredKeys(const Directory& dir, std::uint32_t epoch) {
  std::vector<Result<EpochKey>> keys;
  for (std::uint32_t past = 0; past < std::min(epoch, kMaxEpochs); ++past) {
    auto key = LoadKeyFile(dir, RetiredKeyName(past));
    if (key && key->epoch != past) {
      key = Fail(Code::kCorrupt, "'maco/" + RetiredKeyName(past) + "' is the key of another epoch");
    }
    keys.push_back(std::move(key));
  }
  return keys;
}

// An identity that its key does not verify, but the key before it does: a rekey was cut short
// after the new key had come into force.
Error ExplainIdentity(Error error, const Directory& dir, const EpochKey& key,
                      std::string_view text) {
  if (error.code == Code::kCorrupt && key.epoch > 0) {
    const auto before = LoadKeyFile(dir, RetiredKeyName(key.epoch - 1));
    if (before && DecodeIdentity(text, before->key)) {
      return MakeError(Code::kCorrupt, "a rekey of this repository was cut short",
                       "run 'git maco journal rekey' again");
    }
  }
  return error;
}

// Completes a rekey whose new key is in force; discards one whose new key is not. Returns whether
// one was completed.
Result<bool> SettleRekey(const Directory& dir) {
  if (auto gone = dir.Unlink(kNextKeyFileName); !gone && gone.error().code != Code::kNotFound) {
    return Fail(std::move(gone).error());
  }
  auto key = LoadKeyFile(dir);
  if (!key) {
    return Fail(std::move(key).error());
  }
  std::string text;
  MACO_ASSIGN(text, ReadIdentityFile(dir));
  if (key->epoch == 0 || DecodeIdentity(text, key->key)) {
    return false;
  }
  auto before = LoadKeyFile(dir, RetiredKeyName(key->epoch - 1));
  if (!before) {
    return Fail(std::move(before).error());
  }
  RepositoryIdentity identity;
  MACO_ASSIGN(identity, DecodeIdentity(text, before->key));
  MACO_TRY(WriteIdentityFile(dir, identity, key->key));
  return true;
}

}  // namespace

StateRoot::StateRoot(Directory dir, EpochKey key, RepositoryIdentity identity,
                     RepositoryPlace observed)
    : dir_(std::move(dir)),
      key_(std::move(key)),
      identity_(std::move(identity)),
      observed_(std::move(observed)) {
  retired_ = LoadRetiredKeys(dir_, key_.epoch);
}

Result<const Key*> StateRoot::KeyOf(std::uint32_t epoch) const {
  if (epoch == key_.epoch) {
    return &key_.key;
  }
  if (epoch >= retired_.size()) {
    return Fail(Code::kCorrupt, "there is no key of epoch " + std::to_string(epoch),
                "restore the state root from one backup");
  }
  const auto& key = retired_[epoch];
  if (key) {
    return &key->key;
  }
  if (key.error().code == Code::kNotFound) {
    return Fail(Incomplete(RetiredKeyName(epoch)));
  }
  return Fail(key.error());
}

Result<StateRoot> StateRoot::Open(const Directory& common_dir, IfMoved if_moved, Access access) {
  MACO_TRY(ForbidDumping());
  Directory dir;
  MACO_ASSIGN(dir, OpenRoot(common_dir));
  UniqueFd use;
  if (access == Access::kWrite) {
    // Before the key is read: from here on it stays the key.
    bool fresh = false;
    MACO_ASSIGN(fresh, Missing(common_dir));
    if (fresh) {
      return Fail(NotInitialized());
    }
    MACO_ASSIGN(use, HoldUse(dir));
  }
  auto key = LoadKeyFile(dir);
  auto text = ReadIdentityFile(dir);
  const auto missing = [](const auto& result) {
    return !result && result.error().code == Code::kNotFound;
  };
  if (missing(key) && missing(text)) {
    return Fail(NotInitialized());
  }
  if (missing(key)) {
    return Fail(Incomplete(kKeyFileName));
  }
  if (!key) {
    return Fail(std::move(key).error());
  }
  if (missing(text)) {
    bool holds_state = false;
    MACO_ASSIGN(holds_state, HoldsState(dir));
    return Fail(holds_state ? Incomplete(kRepositoryFileName) : NotInitialized());
  }
  if (!text) {
    return Fail(std::move(text).error());
  }
  RepositoryIdentity identity;
  if (auto decoded = DecodeIdentity(*text, key->key)) {
    identity = *std::move(decoded);
  } else {
    return Fail(ExplainIdentity(std::move(decoded).error(), dir, *key, *text));
  }
  RepositoryPlace observed;
  MACO_ASSIGN(observed, ObservePlace(common_dir));
  if (if_moved == IfMoved::kRefuse && !observed.SamePlace(identity.place)) {
    return Fail(Moved(identity.place));
  }
  StateRoot root(std::move(dir), *std::move(key), std::move(identity), std::move(observed));
  root.use_ = std::move(use);
  return root;
}

Result<StateRoot> StateRoot::Initialize(const Directory& common_dir) {
  MACO_TRY(ForbidDumping());
  MACO_TRY(common_dir.OpenOrCreate(kStateRootName, 0700));
  // The name is durable before anything below it is.
  MACO_TRY(common_dir.Sync());
  Directory dir;
  MACO_ASSIGN(dir, OpenRoot(common_dir));
  {
    UniqueFd lock;
    MACO_ASSIGN(lock, LockRoot(dir));
    MACO_TRY(CompleteRoot(common_dir, dir));
  }
  return Open(common_dir);
}

Result<StateRoot> StateRoot::Rebind(const Directory& common_dir) {
  Directory dir;
  MACO_ASSIGN(dir, OpenRoot(common_dir));
  {
    UniqueFd lock;
    MACO_ASSIGN(lock, LockRoot(dir));
    auto root = Open(common_dir, IfMoved::kReport);
    if (!root || !root->moved()) {
      return root;
    }
    RepositoryIdentity identity = root->identity();
    identity.previous = std::exchange(identity.place, root->observed());
    ++identity.rebinds;
    MACO_TRY(WriteIdentityFile(dir, identity, root->key()));
  }
  return Open(common_dir);
}

Result<StateRoot> StateRoot::Rekey(const Directory& common_dir, const SealFunction& seal) {
  MACO_TRY(ForbidDumping());
  Directory dir;
  MACO_ASSIGN(dir, OpenRoot(common_dir));
  {
    UniqueFd lock;
    MACO_ASSIGN(lock, LockRoot(dir));
    UniqueFd use;
    MACO_ASSIGN(use, ExcludeUse(dir));
    bool completed = false;
    MACO_ASSIGN(completed, SettleRekey(dir));
    if (completed) {
      return Open(common_dir);
    }
    auto root = Open(common_dir);
    if (!root) {
      return root;
    }
    if (root->epoch() + 1 >= kMaxEpochs) {
      return Fail(Code::kLimit, "this repository has had " + std::to_string(kMaxEpochs) + " keys");
    }
    MACO_TRY(RetireKeyFile(dir, root->key_));
    auto next = CreateNextKeyFile(dir, root->epoch() + 1);
    if (!next) {
      return Fail(std::move(next).error());
    }
    if (auto sealed = seal(*root, *next); !sealed) {
      [[maybe_unused]] const auto gone = dir.Unlink(kNextKeyFileName);
      return Fail(std::move(sealed).error());
    }
    MACO_TRY(dir.Rename(kNextKeyFileName, kKeyFileName));  // from here on it is in force
    MACO_TRY(dir.Sync());
    MACO_TRY(WriteIdentityFile(dir, root->identity(), next->key));
  }
  return Open(common_dir);
}

Result<bool> StateRoot::Missing(const Directory& common_dir) {
  auto dir = OpenRoot(common_dir);
  if (!dir) {
    if (dir.error().code == Code::kNotFound) {
      return true;
    }
    return Fail(std::move(dir).error());
  }
  bool has_identity = false;
  MACO_ASSIGN(has_identity, Has(*dir, kRepositoryFileName));
  return !has_identity;
}

}  // namespace maco

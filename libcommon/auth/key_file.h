// The repository's key on disk: created once, loaded into a process that cannot be dumped.
// Contract: docs/formats/key.md (version 1).
#pragma once
#include <cstdint>
#include <string>

#include "libcommon/auth/mac.h"
#include "libcommon/base/result.h"
#include "libcommon/os/directory.h"

namespace maco {

inline constexpr char kKeyFileName[] = "key";
inline constexpr char kNextKeyFileName[] = "key.next";

// Name of the key of a past epoch: "key.<epoch>".
std::string RetiredKeyName(std::uint32_t epoch);

// A key, and which of the repository's keys it is: the first has epoch 0, each rekey adds one.
struct EpochKey {
  std::uint32_t epoch = 0;
  Key key;
};

// Makes this process non-dumpable (PR_SET_DUMPABLE, prctl(2)): no core file, no ptrace and no
// /proc/PID/mem by processes without CAP_SYS_PTRACE; an execve resets it. Errors: kIo.
Result<void> ForbidDumping();

// Reads a key file in the state root, after ForbidDumping. Errors: kNotFound, kPermission (not
// ours, not 0600 or stricter, not a regular file with one link), kCorrupt (size, magic, check
// bytes), kUnsupported (a later version), kIo.
Result<EpochKey> LoadKeyFile(const Directory& state_root, const std::string& name = kKeyFileName);

// Makes a random key and publishes it durably, after ForbidDumping. Errors: kExists, kPermission,
// kLimit, kIo.
Result<EpochKey> CreateKeyFile(const Directory& state_root);

// For a rekey. Keeps `key` as the key of its epoch under its retired name; doing so again changes
// nothing. Errors: kExists (another key has that name), kPermission, kLimit, kIo.
Result<void> RetireKeyFile(const Directory& state_root, const EpochKey& key);

// Makes a random key that is to become the repository's, as `key.next`, durably. Errors: kExists,
// kPermission, kLimit, kIo.
Result<EpochKey> CreateNextKeyFile(const Directory& state_root, std::uint32_t epoch);

}  // namespace maco

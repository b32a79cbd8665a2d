// The repository's key on disk: created once, loaded into a process that cannot be dumped.
// Contract: docs/formats/key.md (version 1).
#pragma once
#include "libcommon/auth/mac.h"
#include "libcommon/base/result.h"
#include "libcommon/os/directory.h"

namespace maco {

inline constexpr char kKeyFileName[] = "key";

// Makes this process non-dumpable (PR_SET_DUMPABLE, prctl(2)): no core file, no ptrace and no
// /proc/PID/mem by processes without CAP_SYS_PTRACE; an execve resets it. Errors: kIo.
Result<void> ForbidDumping();

// Reads `key` in the state root, after ForbidDumping. Errors: kNotFound, kPermission (not ours, not
// 0600 or stricter, not a regular file with one link), kCorrupt (size, magic, check bytes),
// kUnsupported (a later version), kIo.
Result<Key> LoadKeyFile(const Directory& state_root);

// Makes a random key and publishes it durably, after ForbidDumping. Errors: kExists, kPermission,
// kLimit, kIo.
Result<Key> CreateKeyFile(const Directory& state_root);

}  // namespace maco

// Who a repository is: a random id, and where its Git directory was seen, as a signed document.
// Contract: docs/formats/repository.md (version 1).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "libcommon/auth/json.h"
#include "libcommon/auth/mac.h"
#include "libcommon/base/result.h"
#include "libcommon/os/directory.h"

namespace maco {

inline constexpr char kRepositoryFileName[] = "repository";
inline constexpr std::size_t kMaxRepositoryFileBytes = 64 * 1024;

// Where a Git common directory was seen. Evidence that state and repository belong together.
struct RepositoryPlace {
  std::string path;            // absolute, bytes as the kernel gives them
  std::uint64_t device = 0;    // st_dev; may change at a reboot
  std::uint64_t inode = 0;     // st_ino
  std::uint64_t birth_ns = 0;  // nanoseconds since 1970, 0 where the file system does not tell

  // False for a moved, copied or restored directory. The device counts only where there is no
  // birth time, since its number need not survive a reboot.
  bool SamePlace(const RepositoryPlace& other) const;
};

struct RepositoryIdentity {
  std::string id;                // 32 hex digits
  std::uint64_t created_us = 0;  // microseconds since 1970
  std::uint64_t rebinds = 0;     // how often an operator accepted a new place
  RepositoryPlace place;
  RepositoryPlace previous;  // before the last rebind; an empty path if there was none
};

// Errors: kIo, kUnsupported (/proc is not mounted, or the directory was removed).
Result<RepositoryPlace> ObservePlace(const Directory& common_dir);

// A new random id for what is at `place`. Errors: kIo.
Result<RepositoryIdentity> NewIdentity(RepositoryPlace place);

// The signed document. Errors: kInvalid (a path above 4096 bytes).
Result<std::string> EncodeIdentity(const RepositoryIdentity& identity, const Key& key);

// Errors: kCorrupt (not well-formed, or the MAC does not match), kUnsupported (a later version).
Result<RepositoryIdentity> DecodeIdentity(std::string_view text, const Key& key);

}  // namespace maco

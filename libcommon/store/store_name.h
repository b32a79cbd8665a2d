// Names in the directory of a store: of stores, keys, journals, and the files beside them.
// Contract: docs/formats/store.md.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "libcommon/log/log_writer.h"

namespace maco {

inline constexpr char kStoresName[] = "stores";        // in the state root
inline constexpr char kNamespaceLockName[] = ".lock";  // in `stores`
inline constexpr char kStoreLockName[] = "lock";       // in the directory of a store
inline constexpr char kLocatorName[] = "locator";      // there too
inline constexpr char kTemporaryPrefix[] = ".tmp-";    // of AtomicFile
inline constexpr std::size_t kMaxStoreNameBytes = 32;
inline constexpr std::size_t kMaxStoreKeyBytes = 512;
inline constexpr std::uint64_t kMaxJournalNumber = 999'999;

bool IsStoreName(std::string_view name);  // [a-z][a-z0-9-]{0,31}
bool IsStoreKey(std::string_view key);    // 1 to 512 bytes of UTF-8 without control characters

// "000001.log"; and back, nothing if it is no such name.
std::string JournalName(std::uint64_t number);
std::optional<std::uint64_t> ParseJournalName(std::string_view name);

// What the MACs of that journal cover: the object id is "store/<name>/<n>".
LogIdentity JournalIdentity(const std::string& repository_id, const std::string& store,
                            std::uint64_t number);

}  // namespace maco

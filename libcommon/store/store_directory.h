// The directory of a store: opening it, reading its locator, and holding its names against that.
// Contract: docs/formats/store.md ("Valid if and only if", 1 and 2). Requirement SNAP-02.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "libcommon/auth/state_root.h"
#include "libcommon/base/result.h"
#include "libcommon/log/log_reader.h"
#include "libcommon/os/directory.h"
#include "libcommon/store/locator.h"

namespace maco {

// Whose stores. Borrows directory and key, which must outlive whatever is opened with it.
struct StoreAccess {
  const Directory* state_root = nullptr;
  const Key* key = nullptr;
  std::string repository_id;
  std::uint32_t epoch = 0;           // of `key`
  const StateRoot* state = nullptr;  // where the keys of earlier epochs are; may be null

  static StoreAccess Of(const StateRoot& state) {
    return {&state.dir(), &state.key(), state.repository_id(), state.epoch(), &state};
  }
  // Errors: kCorrupt (there is no such key).
  Result<const Key*> KeyOf(std::uint32_t of_epoch) const;
};

// Verifies the text of a locator with the key of its epoch. Errors: as DecodeLocator, kCorrupt.
Result<Locator> VerifyLocator(const StoreAccess& access, const std::string& store,
                              std::string_view text);

// What a journal is opened with: the key of the epoch that its header claims.
struct StoreJournalKey {
  LogIdentity identity;
  const Key* key = nullptr;
};
// Errors: those of opening the file, kCorrupt, kUnsupported.
Result<StoreJournalKey> KeyOfStoreJournal(const Directory& directory, const StoreAccess& access,
                                          const std::string& store, std::uint64_t n);

// Opens `stores` or the directory of one store. Errors: kNotFound, kPermission, kIo, kInvalid (the
// name is none).
Result<Directory> OpenStores(const StoreAccess& access);
Result<Directory> OpenStoreDirectory(const StoreAccess& access, const std::string& store);

// What is in the directory of a store.
struct Inventory {
  bool lock = false;
  bool locator = false;
  std::vector<std::string> temporaries;
  std::set<std::uint64_t> journals;
  std::set<std::uint64_t> unsafe;  // those of them that are not to be opened
  std::vector<Error> problems;     // kCorrupt: foreign names; kPermission: unsafe files
};

// Errors: kLimit (more than `limit` names), kIo.
Result<Inventory> TakeInventory(const Directory& directory, const std::string& store,
                                std::uint64_t limit);

// Adds to the problems what the locator does not know and what it misses.
void CheckInventory(const Locator& locator, Inventory& inventory);
// The same for a store without a locator: it may have nothing but a lock and temporaries.
void CheckNoJournals(const std::string& store, Inventory& inventory);

// The locator's bytes, nothing if there is none. Errors: kPermission, kCorrupt (too large), kIo.
Result<std::optional<std::string>> ReadLocatorText(const Directory& directory,
                                                   const std::string& store);

// Opens a journal for reading and compares its log id. Errors: as LogReader::Open, kCorrupt (it was
// exchanged); the message names store and journal.
Result<LogReader> OpenJournal(const Directory& directory, const StoreAccess& access,
                              const std::string& store, std::uint64_t n, const LogId& log_id);

// `error` with the store and the journal in front.
Error InJournal(const std::string& store, std::uint64_t n, Error error);
Error ExchangedJournal(const std::string& store, std::uint64_t n);

// Errors: kCorrupt. Whether what a journal begins with is where the one before it ended.
Result<void> CheckBaseGeneration(const Locator& locator, std::uint64_t first_generation);

}  // namespace maco

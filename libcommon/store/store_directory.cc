// Inventory of a store's directory, each way in which it can be wrong with its own message.
// Contract: libcommon/store/store_directory.h.
#include "libcommon/store/store_directory.h"

#include <fcntl.h>

#include <utility>

#include "libcommon/base/text.h"
#include "libcommon/os/bounded_read.h"
#include "libcommon/store/store_name.h"

namespace maco {
namespace {

constexpr char kRestore[] = "restore the store's whole directory from a backup";

std::string InStore(const std::string& store, const std::string& name) {
  return "'stores/" + store + "/" + EscapeControl(name) + "'";
}

// Sorts one name in; what it leads to is looked at without following it.
Result<void> Sort(const Directory& directory, const std::string& store, const std::string& name,
                  Inventory& inventory) {
  if (name.starts_with(kTemporaryPrefix)) {
    inventory.temporaries.push_back(name);
    return {};
  }
  const auto journal = ParseJournalName(name);
  if (!journal && name != kStoreLockName && name != kLocatorName) {
    inventory.problems.push_back(MakeError(
        Code::kCorrupt, InStore(store, name) + " is foreign: no part of a store has that name",
        "move it out of the state directory"));
    return {};
  }
  const auto identity = directory.Stat(name);
  if (!identity) {
    // It was removed just now; if it must be there, the locator will miss it.
    return identity.error().code == Code::kNotFound ? Result<void>() : Fail(identity.error());
  }
  const std::string subject = "stores/" + store + "/" + name;
  if (auto safe = RequirePrivateFile(*identity, subject); !safe) {
    inventory.problems.push_back(std::move(safe).error());
    if (journal) {
      inventory.unsafe.insert(*journal);
    }
  }
  if (journal) {
    inventory.journals.insert(*journal);
  }
  inventory.lock = inventory.lock || name == kStoreLockName;
  inventory.locator = inventory.locator || name == kLocatorName;
  return {};
}

Result<Directory> OpenPrivate(const Directory& parent, const std::string& name,
                              const std::string& subject) {
  Directory directory;
  MACO_ASSIGN(directory, parent.Open(name));
  FileIdentity identity;
  MACO_ASSIGN(identity, directory.Identity());
  MACO_TRY(RequirePrivateDirectory(identity, subject));
  return directory;
}

}  // namespace

Result<Directory> OpenStores(const StoreAccess& access) {
  return OpenPrivate(*access.state_root, kStoresName, kStoresName);
}

Result<Directory> OpenStoreDirectory(const StoreAccess& access, const std::string& store) {
  if (!IsStoreName(store)) {
    return Fail(Code::kInvalid, "'" + EscapeControl(store) + "' is no name of a store");
  }
  Directory stores;
  MACO_ASSIGN(stores, OpenStores(access));
  return OpenPrivate(stores, store, "stores/" + store);
}

Result<Inventory> TakeInventory(const Directory& directory, const std::string& store,
                                std::uint64_t limit) {
  auto names = directory.List(static_cast<std::size_t>(limit));
  if (!names) {
    Error error = std::move(names).error();
    if (error.code == Code::kLimit && error.os_errno == 0) {
      error.message = "'stores/" + store + "' has more than " + std::to_string(limit) + " names";
      error.remedy = "run 'git maco journal archive'";
    }
    return Fail(std::move(error));
  }
  Inventory inventory;
  for (const std::string& name : *names) {
    MACO_TRY(Sort(directory, store, name, inventory));
  }
  return inventory;
}

void CheckInventory(const Locator& locator, Inventory& inventory) {
  const auto problem = [&](const std::string& what, const char* remedy) {
    inventory.problems.push_back(MakeError(Code::kCorrupt, what, remedy));
  };
  if (!inventory.lock) {
    problem(InStore(locator.store, kStoreLockName) + " is missing",
            "make sure that nothing uses the store, then create it empty with mode 600");
  }
  for (std::uint64_t n = locator.FirstKept(); n <= locator.active; ++n) {
    if (!inventory.journals.contains(n)) {
      const bool active = n == locator.active;
      problem(std::string(active ? "the active" : "a retained") + " journal " +
                  InStore(locator.store, JournalName(n)) + " is missing",
              kRestore);
    }
  }
  const std::uint64_t last = locator.active + (locator.prepared ? 1 : 0);
  for (auto n = inventory.journals.upper_bound(last); n != inventory.journals.end(); ++n) {
    problem("journal " + InStore(locator.store, JournalName(*n)) +
                " is not known to the locator, so an older locator was put back",
            "put the newest locator back; remove nothing");
  }
}

void CheckNoJournals(const std::string& store, Inventory& inventory) {
  if (!inventory.journals.empty()) {
    inventory.problems.push_back(
        MakeError(Code::kCorrupt, "store '" + store + "' has journals but no locator", kRestore));
  }
}

Result<std::optional<std::string>> ReadLocatorText(const Directory& directory,
                                                   const std::string& store) {
  auto fd = directory.OpenFile(kLocatorName, O_RDONLY | O_NONBLOCK);
  if (!fd) {
    if (fd.error().code == Code::kNotFound) {
      return std::optional<std::string>();
    }
    // A link or a special file: the inventory says it better.
    const auto named = directory.Stat(kLocatorName);
    if (named) {
      MACO_TRY(RequirePrivateFile(*named, "stores/" + store + "/locator"));
    }
    return Fail(std::move(fd).error());
  }
  FileIdentity identity;
  MACO_ASSIGN(identity, IdentityOf(fd->get()));
  if (identity.links == 0) {
    return ReadLocatorText(directory, store);  // it was replaced just now
  }
  MACO_TRY(RequirePrivateFile(identity, "stores/" + store + "/locator"));
  if (identity.size > kMaxLocatorBytes) {
    return Fail(Code::kCorrupt, "the locator of store '" + store + "' is too large", kRestore);
  }
  std::string text;
  MACO_ASSIGN(text, ReadAll(fd->get(), kMaxLocatorBytes));
  return std::optional(std::move(text));
}

Error InJournal(const std::string& store, std::uint64_t n, Error error) {
  error.message = InStore(store, JournalName(n)) + ": " + error.message;
  if (error.remedy.empty() && error.code == Code::kCorrupt) {
    error.remedy = kRestore;
  }
  return error;
}

Error ExchangedJournal(const std::string& store, std::uint64_t n) {
  return MakeError(Code::kCorrupt,
                   "journal " + InStore(store, JournalName(n)) +
                       " was exchanged: it is not the log that the locator names",
                   kRestore);
}

Result<const Key*> StoreAccess::KeyOf(std::uint32_t of_epoch) const {
  if (of_epoch == epoch) {
    return key;
  }
  if (state == nullptr) {
    return Fail(Code::kCorrupt, "there is no key of epoch " + std::to_string(of_epoch));
  }
  return state->KeyOf(of_epoch);
}

Result<Locator> VerifyLocator(const StoreAccess& access, const std::string& store,
                              std::string_view text) {
  const Key* key = nullptr;
  MACO_ASSIGN(key, access.KeyOf(EpochOfLocator(text)));
  return DecodeLocator(text, store, *key, access.repository_id);
}

Result<StoreJournalKey> KeyOfStoreJournal(const Directory& directory, const StoreAccess& access,
                                          const std::string& store, std::uint64_t n) {
  UniqueFd fd;
  MACO_ASSIGN(fd, OpenLogFile(directory, JournalName(n)));
  StoreJournalKey out;
  out.identity = JournalIdentity(access.repository_id, store, n);
  MACO_ASSIGN(out.identity.epoch, EpochOfLog(fd.get()));
  MACO_ASSIGN(out.key, access.KeyOf(out.identity.epoch));
  return out;
}

Result<LogReader> OpenJournal(const Directory& directory, const StoreAccess& access,
                              const std::string& store, std::uint64_t n, const LogId& log_id) {
  const auto key = KeyOfStoreJournal(directory, access, store, n);
  auto reader = key ? LogReader::Open(directory, JournalName(n), *key->key, key->identity)
                    : Result<LogReader>(Fail(key.error()));
  if (!reader) {
    return Fail(InJournal(store, n, std::move(reader).error()));
  }
  if (reader->log_id() != log_id) {
    return Fail(ExchangedJournal(store, n));
  }
  return reader;
}

Result<void> CheckBaseGeneration(const Locator& locator, std::uint64_t first_generation) {
  if (first_generation != locator.BaseGeneration()) {
    return Fail(InJournal(
        locator.store, locator.active,
        MakeError(Code::kCorrupt, "it begins with generation " + std::to_string(first_generation) +
                                      ", the one before ended with " +
                                      std::to_string(locator.BaseGeneration()))));
  }
  return {};
}

}  // namespace maco

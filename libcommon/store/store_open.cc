// Opening and creating a store, and mending what a crash left.
// Contract: libcommon/store/store.h, docs/formats/store.md ("What a crash leaves").
#include <fcntl.h>

#include <algorithm>
#include <utility>

#include "libcommon/base/text.h"
#include "libcommon/log/log_reader.h"
#include "libcommon/os/ofd_lock.h"
#include "libcommon/store/store.h"
#include "libcommon/store/store_journal.h"
#include "libcommon/store/store_name.h"
#include "libcommon/store/store_room.h"

namespace maco {
namespace {

constexpr std::size_t kMaxStoresListed = 4096;
constexpr int kLockFlags = O_RDWR | O_NONBLOCK;

tl::unexpected<Error> NoStore(const std::string& name) {
  return Fail(Code::kNotFound, "there is no store '" + name + "'");
}

// Makes the directory, if it is not there by now, unless there are too many stores already. The
// lock of the namespace makes counting and making one step.
Result<Directory> MakeStoreDirectory(const StoreAccess& access, const std::string& name,
                                     std::uint64_t limit) {
  MACO_TRY(access.state_root->OpenOrCreate(kStoresName, 0700));
  Directory stores;
  MACO_ASSIGN(stores, OpenStores(access));
  UniqueFd lock;
  MACO_ASSIGN(lock,
              OfdLock::OpenLocked(stores, kNamespaceLockName, kLockFlags | O_CREAT, 0600, true));
  std::vector<std::string> names;
  MACO_ASSIGN(names, stores.List(kMaxStoresListed));
  if (std::ranges::find(names, name) != names.end()) {
    return OpenStoreDirectory(access, name);
  }
  if (names.size() - 1 >= limit) {  // the lock is not counted
    return Fail(Code::kLimit,
                "there are " + std::to_string(limit) + " stores already, no more may be made",
                "remove a store that nobody needs");
  }
  MACO_TRY(stores.Create(name, 0700));
  MACO_TRY(stores.Sync());
  MACO_TRY(access.state_root->Sync());  // `stores` may be new
  return OpenStoreDirectory(access, name);
}

Result<Directory> FindDirectory(const StoreAccess& access, const std::string& name,
                                const StoreOptions& options) {
  auto directory = OpenStoreDirectory(access, name);
  if (directory || directory.error().code != Code::kNotFound) {
    return directory;
  }
  if (!options.create) {
    return NoStore(name);
  }
  return MakeStoreDirectory(access, name, options.limits.stores);
}

// Makes the lock only where there is nothing yet: beside a locator its absence is damage.
Result<UniqueFd> LockStore(const Directory& directory, const std::string& name,
                           const StoreOptions& options) {
  const auto named = directory.Stat(kStoreLockName);
  if (named) {
    MACO_TRY(RequirePrivateFile(*named, "stores/" + name + "/lock"));
  }
  const bool make = options.create && !directory.Stat(kLocatorName);
  auto fd = OfdLock::OpenLocked(directory, kStoreLockName, make ? kLockFlags | O_CREAT : kLockFlags,
                                make ? 0600 : 0, options.lock == LogLock::kWait);
  if (fd) {
    return fd;
  }
  if (fd.error().code == Code::kBusy) {
    return Fail(Code::kBusy, "another process is writing to store '" + name + "'");
  }
  if (fd.error().code != Code::kNotFound) {
    return fd;
  }
  if (!directory.Stat(kLocatorName)) {
    return NoStore(name);
  }
  return Fail(Code::kCorrupt, "'stores/" + name + "/lock' is missing",
              "make sure that nothing uses the store, then create it empty with mode 600");
}

}  // namespace

Store::Store(const StoreAccess& access, Directory directory, UniqueFd lock,
             const StoreLimits& limits)
    : access_(access), directory_(std::move(directory)), lock_(std::move(lock)), limits_(limits) {}

Result<Store> Store::Open(const StoreAccess& access, const std::string& name,
                          const StoreOptions& options) {
  MACO_TRY(CheckLimits(options.limits));
  Directory directory;
  MACO_ASSIGN(directory, FindDirectory(access, name, options));
  UniqueFd lock;
  MACO_ASSIGN(lock, LockStore(directory, name, options));
  Store store(access, std::move(directory), std::move(lock), options.limits);
  store.locator_.store = name;
  MACO_TRY(store.Begin(options));
  return store;
}

Result<void> Store::Begin(const StoreOptions& options) {
  std::optional<std::string> text;
  MACO_ASSIGN(text, ReadLocatorText(directory_, name()));
  Inventory inventory;
  MACO_ASSIGN(inventory, TakeInventory(directory_, name(), limits_.directory_entries));
  if (text) {
    MACO_ASSIGN(locator_, VerifyLocator(access_, name(), *text));
    locator_text_ = *std::move(text);
    CheckInventory(locator_, inventory);
  } else {
    CheckNoJournals(name(), inventory);
  }
  if (!inventory.problems.empty()) {
    return Fail(inventory.problems.front());
  }
  if (locator_.active > 0) {
    return OpenExisting(inventory);
  }
  return options.create ? FinishCreation(inventory) : NoStore(name());
}

Result<void> Store::FinishCreation(const Inventory& inventory) {
  if (locator_text_.empty()) {
    MACO_TRY(directory_.Sync());  // the lock, before a locator is there that wants one
    Locator first = locator_;
    first.prepared = true;
    MACO_TRY(ReplaceLocator(std::move(first)));
  }
  MACO_TRY(Mend(inventory));
  auto fresh = MakeJournal(1);
  if (!fresh) {
    return Fail(std::move(fresh).error());
  }
  return SwitchTo(*std::move(fresh));
}

Result<void> Store::OpenExisting(const Inventory& inventory) {
  const std::uint64_t n = locator_.active;
  // Its lock is taken before anything is removed: a writer that lost the lock file still has it.
  const auto key = KeyOfStoreJournal(directory_, access_, name(), n);
  auto writer = key ? LogWriter::Open(directory_, JournalName(n), *key->key, key->identity)
                    : Result<LogWriter>(Fail(key.error()));
  if (!writer) {
    return Fail(InJournal(name(), n, std::move(writer).error()));
  }
  if (writer->log_id() != locator_.active_log_id) {
    return Fail(ExchangedJournal(name(), n));
  }
  writer_ = std::make_unique<LogWriter>(*std::move(writer));
  auto reader = OpenJournal(directory_, access_, name(), n, locator_.active_log_id);
  if (!reader) {
    return Fail(std::move(reader).error());
  }
  auto content = ReadJournal(*reader);
  if (!content) {
    return Fail(InJournal(name(), n, std::move(content).error()));
  }
  if (reader->last_sequence() != writer_->last_sequence()) {
    return Fail(ExchangedJournal(name(), n));
  }
  MACO_TRY(CheckBaseGeneration(locator_, content->first_generation));
  table_ = std::move(content->table);
  generation_ = content->last_generation;
  MACO_TRY(Mend(inventory));
  return key->identity.epoch == access_.epoch ? Result<void>() : LeaveOldKey();
}

// The repository got a new key: from here on it signs. Where there is no room for another journal
// the old one goes on, so that releases do, until there is.
Result<void> Store::LeaveOldKey() {
  auto rolled = Rollover();
  return !rolled && rolled.error().code == Code::kLimit && !poisoned_ ? Result<void>() : rolled;
}

Result<void> Store::Mend(const Inventory& inventory) {
  MACO_TRY(DiscardPrepared(inventory));
  for (const std::string& name : inventory.temporaries) {
    MACO_TRY(directory_.Unlink(name));
  }
  for (const std::uint64_t n : inventory.journals) {
    if (n < locator_.FirstKept()) {
      MACO_TRY(directory_.Unlink(JournalName(n)));  // it is in an archive
    }
  }
  return locator_.prepared && locator_.active > 0 ? ClearIntent() : Result<void>();
}

Result<void> Store::ClearIntent() {
  Locator next = locator_;
  next.prepared = false;
  auto cleared = ReplaceLocator(std::move(next));
  // On a full disk the intent stays; the store must open nevertheless, for releases.
  if (!cleared && !poisoned_ && cleared.error().code == Code::kLimit) {
    return {};
  }
  return cleared;
}

Result<void> Store::DiscardPrepared(const Inventory& inventory) {
  const std::uint64_t n = locator_.active + 1;
  if (!inventory.journals.contains(n)) {
    return {};
  }
  const auto key = KeyOfStoreJournal(directory_, access_, name(), n);
  auto reader = key ? LogReader::OpenTorn(directory_, JournalName(n), *key->key, key->identity)
                    : Result<LogReader>(Fail(key.error()));
  if (!reader) {
    return Fail(InJournal(name(), n, std::move(reader).error()));
  }
  bool delta = false;
  MACO_ASSIGN(delta, HasDelta(*reader));
  if (delta) {
    return Fail(
        InJournal(name(), n,
                  MakeError(Code::kCorrupt, "it was active, so an older locator was put back",
                            "put the newest locator back; remove nothing")));
  }
  MACO_TRY(directory_.Unlink(JournalName(n)));
  return directory_.Sync();
}

}  // namespace maco

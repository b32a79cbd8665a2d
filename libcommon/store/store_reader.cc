// Reads locator, names and active journal; starts over when a writer was in the way.
// Contract: libcommon/store/store_reader.h.
#include "libcommon/store/store_reader.h"

#include <utility>

#include "libcommon/store/beside_writer.h"
#include "libcommon/store/store_journal.h"
#include "libcommon/store/store_room.h"

namespace maco {
namespace {

Result<JournalContent> ReadActive(const StoreAccess& access, const Directory& directory,
                                  StoreSnapshot& snapshot) {
  const Locator& locator = snapshot.locator;
  auto reader =
      OpenJournal(directory, access, locator.store, locator.active, locator.active_log_id);
  if (!reader) {
    return Fail(std::move(reader).error());
  }
  snapshot.fill.active_bytes = reader->end();
  snapshot.fill.active_records = reader->last_sequence();
  auto content = ReadJournal(*reader);
  if (!content) {
    return Fail(InJournal(locator.store, locator.active, std::move(content).error()));
  }
  MACO_TRY(CheckBaseGeneration(locator, content->first_generation));
  return content;
}

Result<StoreSnapshot> ReadOnce(const StoreAccess& access, const Directory& directory,
                               const std::string& text, const std::string& name,
                               const StoreLimits& limits) {
  StoreSnapshot snapshot;
  MACO_ASSIGN(snapshot.locator, VerifyLocator(access, name, text));
  Inventory inventory;
  MACO_ASSIGN(inventory, TakeInventory(directory, name, limits.directory_entries));
  CheckInventory(snapshot.locator, inventory);
  if (!inventory.problems.empty()) {
    return Fail(inventory.problems.front());
  }
  if (snapshot.locator.active == 0) {
    return Fail(Code::kNotFound, "there is no store '" + name + "' yet");
  }
  auto content = ReadActive(access, directory, snapshot);
  if (!content) {
    return Fail(std::move(content).error());
  }
  snapshot.table = std::move(content->table);
  snapshot.generation = content->last_generation;
  snapshot.durable = content->durable;
  const TableSize& size = snapshot.table.size();
  snapshot.fill.rows = size.rows;
  snapshot.fill.table_bytes = size.table_bytes();
  snapshot.fill.reserved_bytes = DeleteRoom(size) + ReplaceRoom(size, limits.release_bytes);
  snapshot.fill.retained = snapshot.locator.retained.size();
  snapshot.fill.limits = limits;
  return snapshot;
}

// Without a locator there is no store; with journals there was one.
Error WithoutLocator(const Directory& directory, const std::string& name,
                     const StoreLimits& limits) {
  auto inventory = TakeInventory(directory, name, limits.directory_entries);
  if (!inventory) {
    return std::move(inventory).error();
  }
  CheckNoJournals(name, *inventory);
  if (!inventory->problems.empty()) {
    return inventory->problems.front();
  }
  return MakeError(Code::kNotFound, "there is no store '" + name + "' yet");
}

}  // namespace

Result<StoreSnapshot> ReadStore(const StoreAccess& access, const std::string& name,
                                const StoreLimits& limits) {
  auto directory = OpenStoreDirectory(access, name);
  if (!directory) {
    if (directory.error().code == Code::kNotFound) {
      return Fail(Code::kNotFound, "there is no store '" + name + "'");
    }
    return Fail(std::move(directory).error());
  }
  for (int attempt = 0;; ++attempt) {
    std::optional<std::string> text;
    MACO_ASSIGN(text, ReadLocatorText(*directory, name));
    auto snapshot = text ? ReadOnce(access, *directory, *text, name, limits)
                         : Fail(WithoutLocator(*directory, name, limits));
    const bool final = snapshot || snapshot.error().code == Code::kNotFound;
    if (final || !WorthRetrying(*directory, name, text, attempt)) {
      return snapshot;
    }
  }
}

}  // namespace maco

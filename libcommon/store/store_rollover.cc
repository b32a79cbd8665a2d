// Beginning a new journal, dropping archived ones, replacing the locator.
// Contract: libcommon/store/store.h, docs/formats/store.md ("Rollover").
#include <utility>

#include "libcommon/base/byte_codec.h"
#include "libcommon/os/atomic_file.h"
#include "libcommon/store/store.h"
#include "libcommon/store/store_journal.h"
#include "libcommon/store/store_name.h"
#include "libcommon/store/store_room.h"

namespace maco {
namespace {

// Names beside the retained journals: lock, locator, active, prepared, a temporary.
constexpr std::uint64_t kOtherNames = 5;
constexpr char kArchive[] = "run 'git maco journal archive'";

}  // namespace

Result<void> Store::CheckUsable() const {
  if (!writer_) {
    return Fail(Code::kInternal, "use of a closed store");
  }
  if (poisoned_) {
    return Fail(Code::kIo, "an earlier write to store '" + name() + "' failed",
                "open the store again");
  }
  return {};
}

Error Store::Full(const std::string& what, const std::string& remedy) const {
  return MakeError(Code::kLimit, "store '" + name() + "' takes only releases: " + what, remedy);
}

Result<void> Store::CheckRollover() const {
  if (locator_.retained.size() >= limits_.retained) {
    return Fail(Full("its journal is full, and " + std::to_string(limits_.retained) +
                         " closed journals are all that may be kept",
                     kArchive));
  }
  if (locator_.retained.size() + 1 + kOtherNames > limits_.directory_entries) {
    return Fail(Full("its directory may have no more names", kArchive));
  }
  if (locator_.active >= kMaxJournalNumber) {
    return Fail(Full("it had " + std::to_string(kMaxJournalNumber) + " journals", ""));
  }
  const TableNeed need = NeedOf(table_.size(), limits_);
  if (need.bytes > limits_.journal_bytes || need.records > limits_.journal_records) {
    return Fail(Full("its table does not fit a journal", "delete rows"));
  }
  return {};
}

Result<void> Store::Rollover() {
  MACO_TRY(CheckUsable());
  MACO_TRY(CheckRollover());
  if (!locator_.prepared) {
    Locator next = locator_;
    next.prepared = true;
    MACO_TRY(ReplaceLocator(std::move(next)));
  }
  auto fresh = MakeJournal(locator_.active + 1);
  if (!fresh) {
    return Fail(std::move(fresh).error());
  }
  return SwitchTo(*std::move(fresh));
}

Result<LogWriter> Store::MakeJournal(std::uint64_t n) {
  const auto make = [&]() -> Result<LogWriter> {
    LogIdentity identity = JournalIdentity(access_.repository_id, name(), n);
    identity.epoch = access_.epoch;
    auto writer = LogWriter::Create(directory_, JournalName(n), *access_.key, identity);
    if (!writer) {
      return writer;
    }
    MACO_TRY(WriteBase(*writer, table_, generation_));
    MACO_TRY(writer->Reserve(DeleteRoom(table_.size()) +
                             ReplaceRoom(table_.size(), limits_.release_bytes)));
    return writer;
  };
  auto writer = make();
  if (!writer) {
    AbandonPrepared();
  }
  return writer;
}

// The present journal stays active; nothing was acknowledged in the other one.
void Store::AbandonPrepared() {
  const auto removed = directory_.Unlink(JournalName(locator_.active + 1));
  const bool gone = removed || removed.error().code == Code::kNotFound;
  // Durably gone before the locator forgets it: a journal that it does not know is refused.
  if (!gone || !directory_.Sync()) {
    poisoned_ = true;
    return;
  }
  if (locator_.active > 0) {
    Locator next = locator_;
    next.prepared = false;
    // If it fails without a doubt about what is there, the intent stays, which is harmless.
    [[maybe_unused]] const auto ignored = ReplaceLocator(std::move(next));
  }
}

Result<void> Store::SwitchTo(LogWriter fresh) {
  Locator next = locator_;
  if (writer_) {
    // Before the locator says what its last record is. It stays open: it may have to go on.
    if (auto flushed = writer_->FlushHead(); !flushed) {
      poisoned_ = true;
      return flushed;
    }
    next.retained.push_back({locator_.active, locator_.active_log_id, locator_.BaseGeneration(),
                             generation_, writer_->last_sequence(), writer_->last_mac()});
  }
  ++next.active;
  next.active_log_id = fresh.log_id();
  next.prepared = false;
  if (auto replaced = ReplaceLocator(std::move(next)); !replaced) {
    if (!poisoned_) {
      AbandonPrepared();
    }
    return replaced;
  }
  writer_ = std::make_unique<LogWriter>(std::move(fresh));
  return {};
}

Result<void> Store::ReplaceLocator(Locator next) {
  next.epoch = access_.epoch;
  std::string text;
  MACO_ASSIGN(text, EncodeLocator(next, *access_.key, access_.repository_id));
  if (auto written = WriteAtomically(directory_, kLocatorName, AsBytes(text)); !written) {
    // The last flush may be what failed: then the new one is there now, and maybe not tomorrow.
    const auto found = ReadLocatorText(directory_, name());
    poisoned_ = !found || found->value_or("") != locator_text_;
    return written;
  }
  locator_ = std::move(next);
  locator_text_ = std::move(text);
  return {};
}

Result<void> Store::DropRetained(std::uint64_t through, const Mac& terminal_mac) {
  MACO_TRY(CheckUsable());
  const std::uint64_t first = locator_.FirstKept();
  if (through < first || through >= locator_.active) {
    return Fail(Code::kInvalid,
                "store '" + name() + "' has no closed journal " + std::to_string(through));
  }
  Locator next = locator_;
  const auto count = static_cast<std::ptrdiff_t>(through - first + 1);
  const RetainedJournal& last = next.retained[static_cast<std::size_t>(count - 1)];
  if (!SameMac(last.mac, terminal_mac)) {
    return Fail(Code::kInvalid, "journal " + std::to_string(through) + " of store '" + name() +
                                    "' is not the one that was archived");
  }
  next.archived = ArchivedJournals{through, last.last_generation, last.mac};
  next.retained.erase(next.retained.begin(), next.retained.begin() + count);
  MACO_TRY(ReplaceLocator(std::move(next)));
  // From here on they count for nothing; what stays is removed by the next opening.
  for (std::uint64_t n = first; n <= through; ++n) {
    MACO_TRY(directory_.Unlink(JournalName(n)));
  }
  return directory_.Sync();
}

Result<void> Store::Close() {
  Result<void> result;
  if (writer_) {
    result = writer_->Close();
    writer_.reset();
  }
  lock_.Reset();
  return result;
}

}  // namespace maco

// Names and places of journals, and opening them with the key of their epoch.
// Contract: libcommon/state/journals.h.
#include "libcommon/state/journals.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "libcommon/base/random_id.h"
#include "libcommon/base/text.h"
#include "libcommon/state/run_event.h"

namespace maco {
namespace {

constexpr std::size_t kMaxEntries = 1'000'000;
constexpr std::size_t kMaxPlainName = 64;
constexpr std::size_t kMinPrefix = 4;
constexpr char kStoresLock[] = ".lock";
constexpr std::string_view kLogSuffix = ".log";
constexpr std::string_view kTemporaryPrefix = ".tmp-";

// Names in a directory of the state root, sorted; none if it does not exist.
Result<std::vector<std::string>> NamesIn(const StateRoot& state, const std::string& path) {
  const auto directory = state.dir().Open(path);
  if (!directory) {
    return directory.error().code == Code::kNotFound ? Result<std::vector<std::string>>()
                                                     : Fail(directory.error());
  }
  FileIdentity identity;
  MACO_ASSIGN(identity, directory->Identity());
  MACO_TRY(RequirePrivateDirectory(identity, "maco/" + path));
  std::vector<std::string> names;
  MACO_ASSIGN(names, directory->List(kMaxEntries));
  std::ranges::sort(names);
  return names;
}

Result<void> ListRuns(const StateRoot& state, JournalList& inventory) {
  std::vector<std::string> names;
  MACO_ASSIGN(names, NamesIn(state, kRunsName));
  for (const auto& name : names) {
    if (!IsRandomId(name)) {
      inventory.strangers.push_back(std::string(kRunsName) + "/" + name);
      continue;
    }
    inventory.journals.push_back(Journal::OfRun(name));
  }
  return {};
}

// Logs that lie in one directory, each named by `accept` from its name without ".log".
template <typename Accept>
Result<void> ListFiles(const StateRoot& state, const std::string& path, const Accept& accept,
                       JournalList& inventory) {
  std::vector<std::string> names;
  MACO_ASSIGN(names, NamesIn(state, path));
  for (const auto& name : names) {
    const bool is_log = name.ends_with(kLogSuffix) &&
                        accept(name.substr(0, name.size() - kLogSuffix.size()), inventory);
    if (!is_log && !name.starts_with(kTemporaryPrefix)) {
      inventory.strangers.push_back(path + "/" + name);
    }
  }
  return {};
}

// Whether a name is that of a store's journal: six digits.
bool IsStoreNumber(const std::string& name) {
  constexpr std::size_t kDigits = 6;
  return name.size() == kDigits && ParseUint(name).has_value();
}

// As docs/formats/store.md has it.
bool IsStoreName(const std::string& name) {
  constexpr std::size_t kMaxName = 32;
  return !name.empty() && name.size() <= kMaxName && name[0] >= 'a' && name[0] <= 'z' &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
         });
}

// The journals of all stores. What else lies there is the business of VerifyStore.
Result<void> ListStores(const StateRoot& state, JournalList& inventory) {
  std::vector<std::string> stores;
  MACO_ASSIGN(stores, NamesIn(state, "stores"));
  for (const auto& store : stores) {
    if (!IsStoreName(store)) {
      if (store != kStoresLock) {
        inventory.strangers.push_back("stores/" + store);
      }
      continue;
    }
    const auto names = NamesIn(state, "stores/" + store);
    if (!names) {
      inventory.unreadable.push_back(names.error());  // one store's problem is no other's
      continue;
    }
    for (const auto& name : *names) {
      const bool is_log = name.ends_with(kLogSuffix);
      if (is_log && IsStoreNumber(name.substr(0, name.size() - kLogSuffix.size()))) {
        inventory.journals.push_back(Journal::OfStore(store, name));
      }
    }
  }
  return {};
}

Journal OfEpoch(JournalKind kind, const std::string& name, const std::string& directory,
                std::uint32_t epoch) {
  const std::string number = std::to_string(epoch);
  return {kind, name + "/" + number, name + "/" + number, directory,
          number + std::string(kLogSuffix)};
}

template <Journal (*make)(std::uint32_t)>
bool AcceptEpoch(const std::string& name, JournalList& out) {
  const auto epoch = ParseUint(name);
  if (!epoch || *epoch > UINT32_MAX || std::to_string(*epoch) != name) {
    return false;
  }
  out.journals.push_back(make(static_cast<std::uint32_t>(*epoch)));
  return true;
}

Error NoSuchJournal(const std::string& text) {
  return MakeError(Code::kNotFound, "there is no journal '" + text + "'",
                   "'git maco journal list' names them");
}

}  // namespace

std::string_view JournalKindName(JournalKind kind) {
  switch (kind) {
    case JournalKind::kRun:
      return "run";
    case JournalKind::kSteps:
      return "steps";
    case JournalKind::kStore:
      return "store";
    case JournalKind::kArchive:
      return "archive";
    case JournalKind::kAudit:
      return "audit";
    case JournalKind::kSeal:
      return "seal";
    case JournalKind::kPrune:
      return "prune";
  }
  return "";
}

Journal Journal::OfRun(const std::string& id) {
  return {JournalKind::kRun, "run/" + id, id, std::string(kRunsName) + "/" + id, kRunLogName};
}

Journal Journal::OfSteps(const std::string& run_name) {
  const std::string name = "steps/" + run_name;
  return {JournalKind::kSteps, name, name, "steps", run_name + std::string(kLogSuffix)};
}

Journal Journal::OfAudit(std::uint32_t epoch) {
  return OfEpoch(JournalKind::kAudit, "audit", "audit", epoch);
}

Journal Journal::OfSeal(std::uint32_t epoch) {
  return OfEpoch(JournalKind::kSeal, "seal", "seals", epoch);
}

Journal Journal::OfPrune(std::uint32_t epoch) {
  return OfEpoch(JournalKind::kPrune, "prune", "prune", epoch);
}

Journal Journal::OfArchive(const std::string& segment) {
  const std::string name = "archive/" + segment;
  return {JournalKind::kArchive, name, name, "archive", segment + std::string(kLogSuffix)};
}

Journal Journal::OfStore(const std::string& store, const std::string& file) {
  const std::string number = file.substr(0, file.size() - kLogSuffix.size());
  const std::string name = "store/" + store + "/" + number;
  return {JournalKind::kStore, name, name, "stores/" + store, file};
}

bool IsPlainName(std::string_view text) {
  return !text.empty() && text.size() <= kMaxPlainName && text[0] != '.' && text[0] != '-' &&
         std::ranges::all_of(text, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '_' || c == '-';
         });
}

Result<JournalList> ListJournals(const StateRoot& state) {
  JournalList inventory;
  MACO_TRY(ListFiles(
      state, "archive",
      [](const std::string& name, JournalList& out) {
        if (IsPlainName(name)) {
          out.journals.push_back(Journal::OfArchive(name));
          return true;
        }
        return false;
      },
      inventory));
  MACO_TRY(ListFiles(state, "audit", AcceptEpoch<Journal::OfAudit>, inventory));
  MACO_TRY(ListFiles(state, "prune", AcceptEpoch<Journal::OfPrune>, inventory));
  MACO_TRY(ListRuns(state, inventory));
  MACO_TRY(ListFiles(state, "seals", AcceptEpoch<Journal::OfSeal>, inventory));
  MACO_TRY(ListStores(state, inventory));
  MACO_TRY(ListFiles(
      state, "steps",
      [](const std::string& name, JournalList& out) {
        if (IsPlainName(name)) {
          out.journals.push_back(Journal::OfSteps(name));
          return true;
        }
        return false;
      },
      inventory));
  return inventory;
}

Result<Journal> FindJournal(const JournalList& inventory, const std::string& text) {
  const std::string run_prefix = text.starts_with("run/") ? text : "run/" + text;
  const bool may_be_prefix = run_prefix.size() >= std::string_view("run/").size() + kMinPrefix;
  const Journal* found = nullptr;
  for (const auto& journal : inventory.journals) {
    if (journal.name == text || journal.name == run_prefix) {
      return journal;
    }
    if (may_be_prefix && journal.kind == JournalKind::kRun &&
        journal.name.starts_with(run_prefix)) {
      if (found != nullptr) {
        return Fail(Code::kInvalid, "several runs begin with '" + text + "'", "give more digits");
      }
      found = &journal;
    }
  }
  if (found == nullptr) {
    return Fail(NoSuchJournal(text));
  }
  return *found;
}

Result<Directory> OpenJournalDirectory(const StateRoot& state, const Journal& journal) {
  auto directory = state.dir().Open(journal.directory.empty() ? "." : journal.directory);
  if (!directory) {
    return directory;
  }
  FileIdentity identity;
  MACO_ASSIGN(identity, directory->Identity());
  MACO_TRY(RequirePrivateDirectory(identity, "maco/" + journal.directory));
  return directory;
}

namespace {

struct JournalFile {
  Directory directory;
  UniqueFd fd;
};

Result<JournalFile> OpenJournalFile(const StateRoot& state, const Journal& journal) {
  JournalFile out;
  MACO_ASSIGN(out.directory, OpenJournalDirectory(state, journal));
  MACO_ASSIGN(out.fd, OpenLogFile(out.directory, journal.file));
  return out;
}

}  // namespace

Result<JournalKey> KeyOfJournal(const StateRoot& state, int fd, const std::string& object_id) {
  JournalKey out;
  out.identity = {state.repository_id(), object_id, 0};
  MACO_ASSIGN(out.identity.epoch, EpochOfLog(fd));
  MACO_ASSIGN(out.key, state.KeyOf(out.identity.epoch));
  return out;
}

Result<LogReader> ReaderOf(const StateRoot& state, UniqueFd fd, const std::string& object_id) {
  JournalKey key;
  MACO_ASSIGN(key, KeyOfJournal(state, fd.get(), object_id));
  return LogReader::FromFd(std::move(fd), *key.key, key.identity);
}

Result<LogReader> OpenForReading(const StateRoot& state, const Journal& journal, bool torn) {
  JournalFile file;
  MACO_ASSIGN(file, OpenJournalFile(state, journal));
  JournalKey key;
  MACO_ASSIGN(key, KeyOfJournal(state, file.fd.get(), journal.object_id));
  return torn ? LogReader::OpenTorn(file.directory, journal.file, *key.key, key.identity)
              : LogReader::FromFd(std::move(file.fd), *key.key, key.identity);
}

Result<LogWriter> OpenForAppend(const StateRoot& state, const Journal& journal, LogLock lock) {
  JournalFile file;
  MACO_ASSIGN(file, OpenJournalFile(state, journal));
  std::uint32_t epoch = 0;
  MACO_ASSIGN(epoch, EpochOfLog(file.fd.get()));
  if (epoch != state.epoch()) {
    return Fail(Code::kRefused,
                "journal '" + journal.name + "' was closed when the repository got a new key",
                "begin a new run");
  }
  return LogWriter::Open(file.directory, journal.file, state.key(),
                         {state.repository_id(), journal.object_id, epoch}, lock);
}

Result<LogWriter> OpenOrCreate(const StateRoot& state, const Journal& journal, LogLock lock) {
  MACO_TRY(state.dir().OpenOrCreate(journal.directory, 0700));
  Directory directory;
  MACO_ASSIGN(directory, OpenJournalDirectory(state, journal));
  auto made = LogWriter::Create(directory, journal.file, state.key(),
                                {state.repository_id(), journal.object_id, state.epoch()});
  if (made || made.error().code != Code::kExists) {
    if (made) {
      MACO_TRY(state.dir().Sync());  // which may have got the directory just now
    }
    return made;
  }
  return OpenForAppend(state, journal, lock);
}

Result<std::uint32_t> EpochOf(const StateRoot& state, const Journal& journal) {
  JournalFile file;
  MACO_ASSIGN(file, OpenJournalFile(state, journal));
  return EpochOfLog(file.fd.get());
}

Result<RepairReport> Repair(const StateRoot& state, const Journal& journal,
                            const RepairOptions& options) {
  JournalFile file;
  MACO_ASSIGN(file, OpenJournalFile(state, journal));
  JournalKey key;
  MACO_ASSIGN(key, KeyOfJournal(state, file.fd.get(), journal.object_id));
  return RepairLog(file.directory, journal.file, *key.key, key.identity, options);
}

Result<LogSummary> Verify(const StateRoot& state, const Journal& journal, unsigned threads) {
  JournalFile file;
  MACO_ASSIGN(file, OpenJournalFile(state, journal));
  JournalKey key;
  MACO_ASSIGN(key, KeyOfJournal(state, file.fd.get(), journal.object_id));
  return VerifyLog(file.directory, journal.file, *key.key, key.identity, threads);
}

}  // namespace maco

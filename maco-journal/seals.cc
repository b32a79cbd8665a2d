// Writing and reading of seals.
// Contract: maco-journal/seals.h, docs/formats/seal.md.
#include "maco-journal/seals.h"

#include <algorithm>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/byte_codec.h"
#include "libcommon/base/text.h"
#include "libcommon/log/log_writer.h"
#include "libcommon/state/run_event.h"
#include "libcommon/state/run_sight.h"

namespace maco::journal {
namespace {

constexpr char kSealed[] = "journal_sealed";
constexpr char kComplete[] = "seal_complete";
constexpr char kSchema[] = "maco.seal-event/1";

Error BadSeal(std::uint32_t epoch, const char* why) {
  return MakeError(Code::kCorrupt, "seal/" + std::to_string(epoch) + " " + why,
                   "restore 'maco/seals' in the Git directory from a backup");
}

// Appends in groups: a repository may have very many journals.
class SealWriter {
 public:
  explicit SealWriter(LogWriter& log) : log_(log) {}

  Result<void> Add(Json event) {
    event["schema"] = kSchema;
    std::string text;
    MACO_ASSIGN(text, Canonicalize(event));
    pending_.push_back(std::move(text));
    return pending_.size() < kGroup ? Result<void>() : Flush();
  }

  Result<void> Flush() {
    std::vector<std::span<const std::uint8_t>> payloads;
    payloads.reserve(pending_.size());
    for (const auto& text : pending_) {
      payloads.push_back(AsBytes(text));
    }
    MACO_TRY(log_.AppendGroup(payloads, Durability::kRecordAndHead));
    pending_.clear();
    return {};
  }

 private:
  static constexpr std::size_t kGroup = 512;
  LogWriter& log_;
  std::vector<std::string> pending_;
};

// What must be settled first: nothing can be added to a journal of a past epoch.
Result<void> CheckRun(const StateRoot& state, const Journal& journal) {
  if (journal.kind != JournalKind::kRun) {
    return {};
  }
  const RunSight sight = LookAtRun(state, journal.object_id);
  if (sight.error) {
    return Fail(*sight.error);
  }
  const RunVerdict verdict = Conclude(sight);
  if (verdict.kind == RunKind::kUncertain) {
    return Fail(Code::kRefused, "run " + journal.object_id + " is uncertain: " + verdict.message,
                verdict.remedy);
  }
  return {};
}

Result<LogSummary> ClosedSummary(const StateRoot& state, const Journal& journal) {
  LogSummary summary;
  MACO_ASSIGN(summary, Verify(state, journal));
  if (summary.verdict == LogVerdict::kHeadLag) {
    // What a crash left: opening for append names its last records.
    auto log = OpenForAppend(state, journal);
    if (!log) {
      return Fail(std::move(log).error());
    }
    MACO_TRY(log->Close());
    MACO_ASSIGN(summary, Verify(state, journal));
  }
  if (summary.verdict != LogVerdict::kClean) {
    return Fail(Code::kCorrupt,
                "journal '" + journal.name +
                    "' is not closed well: " + std::string(VerdictName(summary.verdict)),
                "git maco journal verify " + journal.name);
  }
  return summary;
}

Result<void> SealJournal(const StateRoot& state, const Journal& journal,
                         const std::map<std::string, Seal>& earlier, SealWriter& out) {
  MACO_TRY(CheckRun(state, journal));
  const auto epoch = EpochOf(state, journal);
  if (!epoch) {
    // A run's directory without a journal: killed before it had one.
    return epoch.error().code == Code::kNotFound ? Result<void>() : Fail(epoch.error());
  }
  LogSummary summary;
  MACO_ASSIGN(summary, ClosedSummary(state, journal));
  const std::string difference =
      *epoch == state.epoch() ? "" : SealDifference(earlier, journal.name, summary);
  if (!difference.empty()) {
    return Fail(Code::kCorrupt, "journal '" + journal.name + "': " + difference,
                "git maco journal verify " + journal.name);
  }
  return out.Add({{"event", kSealed},
                  {"journal", journal.name},
                  {"records", summary.records},
                  {"mac", ToHex(summary.last_mac)}});
}

Result<void> SealAll(const StateRoot& state, const Journal& own, LogWriter& log) {
  std::map<std::string, Seal> earlier;
  MACO_ASSIGN(earlier, ReadSeals(state));
  JournalList inventory;
  MACO_ASSIGN(inventory, ListJournals(state));
  if (!inventory.unreadable.empty()) {
    return Fail(inventory.unreadable.front());
  }
  SealWriter out(log);
  std::uint64_t sealed = 0;
  for (const auto& journal : inventory.journals) {
    if (journal.name == own.name) {
      continue;
    }
    MACO_TRY(SealJournal(state, journal, earlier, out));
    ++sealed;
  }
  MACO_TRY(out.Add({{"event", kComplete}, {"journals", sealed}}));
  return out.Flush();
}

Result<void> ReadSeal(const StateRoot& state, std::uint32_t epoch,
                      std::map<std::string, Seal>& out) {
  auto reader = OpenForReading(state, Journal::OfSeal(epoch));
  if (!reader) {
    return Fail(reader.error().code == Code::kNotFound ? BadSeal(epoch, "is missing")
                                                       : std::move(reader).error());
  }
  bool complete = false;
  for (;;) {
    std::optional<LogEntry> entry;
    MACO_ASSIGN(entry, reader->Next());
    if (!entry) {
      return complete ? Result<void>() : Fail(BadSeal(epoch, "is not complete"));
    }
    Json event;
    MACO_ASSIGN(event, ParseEvent(entry->payload, entry->sequence));
    if (EventText(event, "event") == kComplete) {
      complete = true;
      continue;
    }
    const auto mac = FromHex(EventText(event, "mac"));
    Seal seal;
    if (!mac || mac->size() != seal.last_mac.size()) {
      return Fail(BadSeal(epoch, "is malformed"));
    }
    std::ranges::copy(*mac, seal.last_mac.begin());
    seal.records = EventUint(event, "records");
    out[EventText(event, "journal")] = seal;
  }
}

}  // namespace

Result<std::map<std::string, Seal>> ReadSeals(const StateRoot& state) {
  std::map<std::string, Seal> out;
  for (std::uint32_t epoch = 1; epoch <= state.epoch(); ++epoch) {
    MACO_TRY(ReadSeal(state, epoch, out));
  }
  return out;
}

Result<void> WriteSeal(const StateRoot& state, const EpochKey& next) {
  const Journal seal = Journal::OfSeal(next.epoch);
  MACO_TRY(state.dir().OpenOrCreate(seal.directory, 0700));
  MACO_TRY(state.dir().Sync());
  Directory directory;
  MACO_ASSIGN(directory, OpenJournalDirectory(state, seal));
  // Of a rekey that never came into force.
  if (auto gone = directory.Unlink(seal.file); !gone && gone.error().code != Code::kNotFound) {
    return gone;
  }
  auto log = LogWriter::Create(directory, seal.file, next.key,
                               {state.repository_id(), seal.object_id, next.epoch});
  if (!log) {
    return Fail(std::move(log).error());
  }
  auto sealed = SealAll(state, seal, *log);
  if (!sealed) {
    [[maybe_unused]] const auto gone = directory.Unlink(seal.file);
    return sealed;
  }
  return log->Close();
}

std::string SealDifference(const std::map<std::string, Seal>& seals, const std::string& name,
                           const LogSummary& summary) {
  const auto found = seals.find(name);
  if (found == seals.end()) {
    return "a key of a past epoch signed it after that epoch was over";
  }
  if (found->second.records != summary.records || found->second.last_mac != summary.last_mac) {
    return "it is not as it was when its key was retired";
  }
  return {};
}

}  // namespace maco::journal

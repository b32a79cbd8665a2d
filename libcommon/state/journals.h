// The journals of a repository: their names for people, where they lie, which key is theirs.
// Contract: docs/formats/run.md, step.md, audit.md, seal.md. Stores have several, see
// libcommon/store.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "libcommon/auth/state_root.h"
#include "libcommon/base/result.h"
#include "libcommon/log/log_reader.h"
#include "libcommon/log/log_repair.h"
#include "libcommon/log/log_verify.h"
#include "libcommon/log/log_writer.h"

namespace maco {

enum class JournalKind { kRun, kSteps, kStore, kArchive, kAudit, kSeal, kPrune };

std::string_view JournalKindName(JournalKind kind);

struct Journal {
  JournalKind kind = JournalKind::kRun;
  // "run/<id>", "steps/<name>", "store/<name>/<n>", "archive/<segment>", "audit/<epoch>",
  // "seal/<epoch>", "prune/<epoch>".
  std::string name;
  std::string object_id;  // in every MAC of it; the name, but for a run its id alone
  std::string directory;  // below the state root, "" for the root itself
  std::string file;

  static Journal OfRun(const std::string& id);
  static Journal OfSteps(const std::string& run_name);
  static Journal OfAudit(std::uint32_t epoch);
  static Journal OfSeal(std::uint32_t epoch);
  static Journal OfPrune(std::uint32_t epoch);
  // `segment` is "<store>-<first>-<last>", see docs/formats/archive.md.
  static Journal OfArchive(const std::string& segment);
  static Journal OfStore(const std::string& store, const std::string& file);
};

// Whether a text can name a run with steps, or a step: 1 to 64 of [A-Za-z0-9._-], not starting with
// '.' or '-'.
bool IsPlainName(std::string_view text);

// What lies in the state root, in the order of names; also what is not like a journal, so that it
// is reported and not passed over.
struct JournalList {
  std::vector<Journal> journals;
  std::vector<std::string> strangers;  // paths below the state root
  std::vector<Error> unreadable;       // directories of stores whose journals are not in the list
};
// Errors: kPermission, kLimit (more than 1,000,000 in one place), kIo.
Result<JournalList> ListJournals(const StateRoot& state);

// The one journal that `text` names: its full name, or for a run its id or the beginning of it (4
// digits or more). Errors: kNotFound, kInvalid (several fit).
Result<Journal> FindJournal(const JournalList& inventory, const std::string& text);

Result<Directory> OpenJournalDirectory(const StateRoot& state, const Journal& journal);

// As LogReader::Open, LogWriter::Open and VerifyLog, with the key of the journal's epoch. Writing
// needs the present epoch: kRefused for an older one.
Result<LogReader> OpenForReading(const StateRoot& state, const Journal& journal, bool torn = false);
Result<LogReader> ReaderOf(const StateRoot& state, UniqueFd fd, const std::string& object_id);
Result<LogWriter> OpenForAppend(const StateRoot& state, const Journal& journal,
                                LogLock lock = LogLock::kTry);
// Creates it if it is missing.
Result<LogWriter> OpenOrCreate(const StateRoot& state, const Journal& journal,
                               LogLock lock = LogLock::kTry);
// The epoch of an existing journal. Errors: those of opening.
Result<std::uint32_t> EpochOf(const StateRoot& state, const Journal& journal);
Result<RepairReport> Repair(const StateRoot& state, const Journal& journal,
                            const RepairOptions& options);
// `threads` as in VerifyLog.
Result<LogSummary> Verify(const StateRoot& state, const Journal& journal, unsigned threads = 1);

// Identity and key of an existing journal. Errors: those of opening, kCorrupt (no such key).
struct JournalKey {
  LogIdentity identity;
  const Key* key = nullptr;
};
Result<JournalKey> KeyOfJournal(const StateRoot& state, int fd, const std::string& object_id);

}  // namespace maco

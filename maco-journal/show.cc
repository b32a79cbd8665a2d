// `git maco journal show` and `export`: the records of journals, for people and for programs.
// Contract: git-maco-journal(1).
#include <fcntl.h>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/byte_codec.h"
#include "libcommon/base/exit_code.h"
#include "libcommon/base/text.h"
#include "libcommon/cli/document.h"
#include "libcommon/cli/output.h"
#include "libcommon/os/atomic_file.h"
#include "libcommon/os/bounded_read.h"
#include "libcommon/state/journals.h"
#include "libcommon/state/run_event.h"
#include "maco-journal/place.h"
#include "maco-journal/verbs.h"

namespace maco::journal {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20U;

// The record as a document; a payload that is no JSON as base64.
Json Document(const Journal& journal, const LogEntry& entry) {
  Json out = {{"journal", journal.name},
              {"sequence", entry.sequence},
              {"batch", entry.batch},
              {"offset", entry.offset},
              {"named", entry.named}};
  auto record = ParseJson(AsText(entry.payload), kMaxEventBytes);
  if (record) {
    out["record"] = *std::move(record);
  } else {
    out["record_base64"] = ToBase64(AsText(entry.payload));
  }
  return out;
}

// One line: number, time, event, and the members that are short enough to be read.
Result<std::string> TextOf(const Json& document) {
  constexpr std::size_t kNumberColumn = 7;
  constexpr std::size_t kEventColumn = 20;
  constexpr std::size_t kMaxShown = 100;
  std::string out =
      Padded(std::to_string(document["sequence"].get<std::uint64_t>()), kNumberColumn);
  if (!document.contains("record") || !document["record"].is_object()) {
    return out + "(no JSON object)\n";
  }
  const Json& record = document["record"];
  out += Padded(record.contains("time_us") ? UtcTime(EventUint(record, "time_us")) : "", 21);
  out += Padded(EscapeControl(EventText(record, "event")), kEventColumn);
  for (const auto& [name, value] : record.items()) {
    if (name == "schema" || name == "event" || name == "time_us") {
      continue;
    }
    std::string text;
    MACO_ASSIGN(text, Canonicalize(value));
    if (value.is_string()) {
      text = value.get<std::string>();
    }
    if (text.size() <= kMaxShown) {
      out += " " + EscapeControl(name) + "=" + EscapeControl(text);
    }
  }
  if (!document["named"].get<bool>()) {
    out += " (not named by a head yet)";
  }
  return out + "\n";
}

// Hands each record of a journal to `take`; those before a torn tail too, and then fails.
template <typename Take>
Result<void> EachRecord(const StateRoot& state, const Journal& journal, const Take& take) {
  auto reader = OpenForReading(state, journal, true);
  if (!reader) {
    return Fail(std::move(reader).error());
  }
  for (;;) {
    std::optional<LogEntry> entry;
    MACO_ASSIGN(entry, reader->Next());
    if (!entry) {
      break;
    }
    MACO_TRY(take(*entry));
  }
  if (reader->ends().verdict == LogVerdict::kTornTail) {
    return Fail(Code::kTornTail,
                "journal '" + journal.name + "' ends in an append that was cut short",
                "git maco journal repair --cut-torn-tail " + journal.name);
  }
  return {};
}

Result<void> ExportJournal(const StateRoot& state, const Journal& journal, int fd) {
  const auto write = [fd](const Json& document) -> Result<void> {
    std::string text;
    MACO_ASSIGN(text, Canonicalize(document));
    return WriteAll(fd, AsBytes(text + "\n"));
  };
  MACO_TRY(EachRecord(state, journal,
                      [&](const LogEntry& entry) { return write(Document(journal, entry)); }));
  if (journal.kind != JournalKind::kRun) {
    return {};
  }
  const auto evidence = state.dir().OpenFile(journal.directory + "/" + kEvidencePath, O_RDONLY);
  if (!evidence) {
    return evidence.error().code == Code::kNotFound ? Result<void>() : Fail(evidence.error());
  }
  std::string text;
  MACO_ASSIGN(text, ReadAll(evidence->get(), kMaxJsonBytes));
  if (text.empty()) {
    return {};
  }
  Json document;
  MACO_ASSIGN(document, ParseJson(text, kMaxJsonBytes));
  return write({{"journal", journal.name}, {"evidence", std::move(document)}});
}

Result<void> ExportAll(const StateRoot& state, const std::vector<Journal>& journals, int fd) {
  for (const auto& journal : journals) {
    MACO_TRY(ExportJournal(state, journal, fd));
  }
  return {};
}

}  // namespace

Result<int> Show(const Options& options) {
  auto state = OpenToRead();
  if (!state) {
    return Fail(std::move(state).error());
  }
  JournalList inventory;
  MACO_ASSIGN(inventory, ListJournals(*state));
  Journal journal;
  MACO_ASSIGN(journal, FindJournal(inventory, options.names.front()));
  Json records = Json::array();
  std::string text;
  const auto shown = EachRecord(*state, journal, [&](const LogEntry& entry) -> Result<void> {
    const Json document = Document(journal, entry);
    if (options.json) {
      records.push_back(document);
      return {};
    }
    std::string line;
    if (options.ndjson) {
      MACO_ASSIGN(line, Canonicalize(document));
      line += "\n";
    } else {
      MACO_ASSIGN(line, TextOf(document));
    }
    text += line;
    if (text.size() > kChunk) {
      MACO_TRY(Print(text));
      text.clear();
    }
    return {};
  });
  MACO_TRY(Print(text));
  if (options.json) {
    MACO_TRY(PrintDocument("maco.journal/1",
                           {{"journal", journal.name}, {"records", std::move(records)}}));
  }
  if (!shown) {
    return Fail(shown.error());
  }
  return kExitOk;
}

Result<int> Export(const Options& options) {
  auto state = OpenToRead();
  if (!state) {
    return Fail(std::move(state).error());
  }
  JournalList inventory;
  MACO_ASSIGN(inventory, ListJournals(*state));
  std::vector<Journal> chosen;
  for (const auto& name : options.names) {
    Journal journal;
    MACO_ASSIGN(journal, FindJournal(inventory, name));
    chosen.push_back(std::move(journal));
  }
  const auto& journals = options.names.empty() ? inventory.journals : chosen;
  if (options.output.empty()) {
    MACO_TRY(ExportAll(*state, journals, 1));
    return kExitOk;
  }
  const std::size_t slash = options.output.rfind('/');
  Directory directory;
  MACO_ASSIGN(
      directory,
      Directory::OpenPath(slash == std::string::npos ? "." : options.output.substr(0, slash + 1)));
  auto file = AtomicFile::Create(directory, options.output.substr(slash + 1));
  if (!file) {
    return Fail(std::move(file).error());
  }
  MACO_TRY(ExportAll(*state, journals, file->fd()));
  MACO_TRY(file->CommitNew());
  return kExitOk;
}

}  // namespace maco::journal

// `git maco journal list`: every journal, how long it is and what its end looks like.
// Contract: git-maco-journal(1).
#include "libcommon/base/exit_code.h"
#include "libcommon/base/text.h"
#include "libcommon/cli/document.h"
#include "libcommon/cli/output.h"
#include "libcommon/os/ofd_lock.h"
#include "libcommon/state/journals.h"
#include "maco-journal/place.h"
#include "maco-journal/verbs.h"

namespace maco::journal {
namespace {

struct Line {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  std::string state;  // the word for its end, or "running"
};

// Looks at the two ends only; `verify` looks at everything.
Result<Line> LookAt(const StateRoot& state, const Journal& journal) {
  Directory directory;
  MACO_ASSIGN(directory, OpenJournalDirectory(state, journal));
  UniqueFd fd;
  MACO_ASSIGN(fd, OpenLogFile(directory, journal.file));
  JournalKey key;
  MACO_ASSIGN(key, KeyOfJournal(state, fd.get(), journal.object_id));
  auto scan = LogScan::Open(fd.get(), *key.key, key.identity);
  if (!scan) {
    return Fail(std::move(scan).error());
  }
  LogEnds ends;
  MACO_ASSIGN(ends, ObserveEnds(fd.get(), *scan));
  bool held = false;
  MACO_ASSIGN(held, OfdLock::HeldByOther(fd.get()));
  const LogHead& last = ends.unnamed.empty() ? ends.newer : ends.unnamed.back();
  Line line;
  line.records = last.sequence;
  line.bytes = last.end;
  line.state = held ? "running" : std::string(VerdictName(ends.verdict));
  return line;
}

std::string TextLine(const Journal& journal, const Result<Line>& line) {
  constexpr std::size_t kNameColumn = 40;
  constexpr std::size_t kNumberColumn = 10;
  std::string out = Padded(journal.name, kNameColumn);
  if (!line) {
    return out + "DAMAGED: " + EscapeControl(line.error().message) + "\n";
  }
  return out + Padded(std::to_string(line->records), kNumberColumn) +
         Padded(std::to_string(line->bytes), kNumberColumn) + line->state + "\n";
}

Json JsonLine(const Journal& journal, const Result<Line>& line) {
  Json out = {{"journal", journal.name}, {"kind", JournalKindName(journal.kind)}};
  if (line) {
    out["records"] = line->records;
    out["bytes"] = line->bytes;
    out["state"] = line->state;
  } else {
    out["state"] = "damaged";
    out["error"] = EscapeControl(line.error().message);
  }
  return out;
}

}  // namespace

Result<int> List(const Options& options) {
  auto state = OpenToRead();
  if (!state) {
    return Fail(std::move(state).error());
  }
  JournalList inventory;
  MACO_ASSIGN(inventory, ListJournals(*state));
  std::string text;
  Json lines = Json::array();
  for (const auto& journal : inventory.journals) {
    if (options.nul) {
      text += journal.name + '\0';
      continue;
    }
    const auto line = LookAt(*state, journal);
    if (options.json) {
      lines.push_back(JsonLine(journal, line));
    } else {
      text += TextLine(journal, line);
    }
  }
  Json strangers = Json::array();
  for (const auto& path : inventory.strangers) {
    strangers.push_back(EscapeControl(path));
    text += options.nul ? "" : "not a journal: " + EscapeControl(path) + "\n";
  }
  if (options.json) {
    MACO_TRY(PrintDocument("maco.journal-list/1",
                           {{"journals", std::move(lines)}, {"strangers", std::move(strangers)}}));
  } else {
    MACO_TRY(Print(text));
  }
  return kExitOk;
}

}  // namespace maco::journal

// `git maco journal repair`: cuts a torn tail, makes a damaged head anew; only what was asked for.
// Contract: git-maco-journal(1), docs/formats/log.md ("Repair").
#include <algorithm>

#include "libcommon/base/exit_code.h"
#include "libcommon/base/random_id.h"
#include "libcommon/cli/document.h"
#include "libcommon/cli/output.h"
#include "libcommon/state/journals.h"
#include "maco-journal/place.h"
#include "maco-journal/verbs.h"

namespace maco::journal {
namespace {

constexpr char kCutName[] = "cut";  // directory of the state root for the bytes that were cut

Json Describe(const Journal& journal, const RepairReport& report, const std::string& kept,
              bool dry_run) {
  return {{"journal", journal.name},
          {"found", VerdictName(report.found)},
          {"cut_offset", report.cut_offset},
          {"cut_bytes", report.cut_bytes},
          {"kept_as", report.cut_bytes == 0 ? Json(nullptr) : Json(kept)},
          {"head_rewritten", report.head_rewritten},
          {"last_sequence", report.last_sequence},
          {"dry_run", dry_run}};
}

std::string Text(const Journal& journal, const RepairReport& report, const std::string& kept,
                 bool dry_run) {
  const std::string would = dry_run ? "would be " : "";
  std::string out;
  if (report.cut_bytes > 0) {
    out += journal.name + ": " + std::to_string(report.cut_bytes) + " bytes from offset " +
           std::to_string(report.cut_offset) + " " + would + "cut, kept in maco/" + kept + "\n";
  }
  if (report.head_rewritten) {
    out += journal.name + ": the damaged head " + would + "written anew\n";
  }
  if (out.empty()) {
    out = journal.name + ": nothing to repair\n";
  }
  return out + "its last record is " + std::to_string(report.last_sequence) + "\n";
}

}  // namespace

Result<int> Repair(const Options& options) {
  auto state = OpenToWrite();
  if (!state) {
    return Fail(std::move(state).error());
  }
  JournalList inventory;
  MACO_ASSIGN(inventory, ListJournals(*state));
  Journal journal;
  MACO_ASSIGN(journal, FindJournal(inventory, options.names.front()));
  RepairOptions request;
  request.cut_torn_tail = options.cut_torn_tail;
  request.rewrite_head = options.rewrite_head;
  std::string id;
  MACO_ASSIGN(id, RandomId());
  request.keep_name = journal.name + "-" + id;
  std::ranges::replace(request.keep_name, '/', '-');
  request.dry_run = true;
  RepairReport report;
  MACO_ASSIGN(report, maco::Repair(*state, journal, request));
  Directory cut;
  if (!options.dry_run) {
    if (report.cut_bytes > 0) {
      MACO_ASSIGN(cut, state->dir().OpenOrCreate(kCutName, 0700));
      MACO_TRY(state->dir().Sync());
      request.keep_in = &cut;
    }
    request.dry_run = false;
    MACO_ASSIGN(report, maco::Repair(*state, journal, request));
  }
  const std::string kept = std::string(kCutName) + "/" + request.keep_name;
  const bool changed = report.cut_bytes > 0 || report.head_rewritten;
  if (changed && !options.dry_run) {
    Json event = Describe(journal, report, kept, false);
    event["event"] = "repaired";
    MACO_TRY(Audit(*state, std::move(event)));
  }
  if (options.json) {
    MACO_TRY(
        PrintDocument("maco.journal-repair/1", Describe(journal, report, kept, options.dry_run)));
  } else {
    MACO_TRY(Print(Text(journal, report, kept, options.dry_run)));
  }
  return kExitOk;
}

}  // namespace maco::journal

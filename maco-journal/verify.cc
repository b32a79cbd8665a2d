// `git maco journal verify`: every record of the chosen journals, evidence, seals; on all cores.
// Contract: git-maco-journal(1).
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"
#include "libcommon/base/text.h"
#include "libcommon/cli/document.h"
#include "libcommon/cli/output.h"
#include "libcommon/state/journals.h"
#include "libcommon/state/run_sight.h"
#include "libcommon/state/steps.h"
#include "libcommon/store/store_list.h"
#include "libcommon/store/store_verify.h"
#include "maco-journal/archive_segment.h"
#include "maco-journal/place.h"
#include "maco-journal/seals.h"
#include "maco-journal/verbs.h"

namespace maco::journal {
namespace {

using Seals = std::map<std::string, Seal>;

struct Finding {
  std::string verdict;  // the log's own word, or "damaged", "unsealed", "no-evidence", ...
  std::string problem;  // empty if all is well
  std::string remedy;
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  bool running = false;

  bool ok() const { return problem.empty(); }
};

std::string Restore(const Journal& journal) {
  return "restore 'maco/" + journal.directory + "/" + journal.file + "' from a backup";
}

Finding Damaged(const Journal& journal, const Error& error) {
  Finding finding;
  finding.verdict = "damaged";
  finding.problem = error.message;
  finding.remedy = error.remedy.empty() ? Restore(journal) : error.remedy;
  return finding;
}

std::string RemedyFor(LogVerdict verdict, const Journal& journal) {
  switch (verdict) {
    case LogVerdict::kTornTail:
      return "git maco journal repair --cut-torn-tail " + journal.name;
    case LogVerdict::kDamagedHead:
      return "git maco journal repair --rewrite-head " + journal.name;
    case LogVerdict::kStaleHead:
      return "find out who put old state back; then " + Restore(journal);
    default:
      return Restore(journal);
  }
}

// What is there against the final record of a run.
void CheckFiles(const StateRoot& state, const Journal& journal, const Finalization& finalization,
                Finding& finding) {
  const auto run = OpenJournalDirectory(state, journal);
  const auto same = run ? CheckFinalization(*run, state.identity().rebinds, finalization)
                        : Result<void>(Fail(run.error()));
  if (!same) {
    finding.verdict = "other-files";
    finding.problem = "its files do not fit its final record: " + same.error().message;
    finding.remedy = "find out who changed it; it is never pruned";
  }
}

// What a run's evidence, and a step's records, add to a log that verifies.
void CheckContent(const StateRoot& state, const Journal& journal, Finding& finding) {
  if (journal.kind == JournalKind::kRun) {
    const RunSight sight = LookAtRun(state, journal.object_id);
    finding.running = sight.held;
    if (sight.error) {
      finding = Damaged(journal, *sight.error);
    } else if (!sight.evidence_failure.empty()) {
      finding.verdict = "no-evidence";
      finding.problem = "its evidence does not count: " + sight.evidence_failure;
      finding.remedy = Conclude(sight).remedy;
    } else if (sight.finalization && !sight.held) {
      CheckFiles(state, journal, *sight.finalization, finding);
    }
  } else if (journal.kind == JournalKind::kArchive) {
    if (const auto segment = ReadSegment(state, journal); !segment) {
      finding = Damaged(journal, segment.error());
    }
  } else if (journal.kind == JournalKind::kSteps) {
    const auto steps = ReadSteps(state, journal.name.substr(journal.name.find('/') + 1));
    if (!steps) {
      finding = Damaged(journal, steps.error());
    }
  }
}

Finding Check(const StateRoot& state, const Result<Seals>& seals, const Journal& journal,
              unsigned threads) {
  const auto epoch = EpochOf(state, journal);
  if (!epoch && epoch.error().code == Code::kNotFound && journal.kind == JournalKind::kRun) {
    // Only a run that was killed before it had a journal: nothing else may be there.
    Finding finding;
    finding.verdict = "not-begun";
    CheckContent(state, journal, finding);
    return finding;
  }
  if (!epoch) {
    return Damaged(journal, epoch.error());
  }
  const auto summary = Verify(state, journal, threads);
  if (!summary) {
    return Damaged(journal, summary.error());
  }
  Finding finding;
  finding.verdict = VerdictName(summary->verdict);
  finding.records = summary->records;
  finding.bytes = summary->bytes;
  if (!summary->intact()) {
    finding.problem = "does not verify at byte " + std::to_string(summary->offset);
    finding.remedy = RemedyFor(summary->verdict, journal);
    return finding;
  }
  // A store's journals are anchored by its locator, whatever their epoch.
  if (*epoch != state.epoch() && journal.kind != JournalKind::kStore) {
    const std::string difference =
        seals ? SealDifference(*seals, journal.name, *summary) : seals.error().message;
    if (!difference.empty()) {
      finding.verdict = "unsealed";
      finding.problem = difference;
      finding.remedy = "find out who has the old key; restore from a backup";
      return finding;
    }
  }
  CheckContent(state, journal, finding);
  return finding;
}

// A store as a whole: locator, inventory, the chain over its journals.
Finding CheckStore(const StateRoot& state, const std::string& name) {
  Finding finding;
  const auto report = VerifyStore(StoreAccess::Of(state), name);
  if (!report || !report->intact()) {
    const Error& error = report ? report->findings.front() : report.error();
    finding.verdict = "damaged";
    finding.problem = error.message;
    finding.remedy =
        error.remedy.empty() ? "restore 'maco/stores/" + name + "' from a backup" : error.remedy;
    return finding;
  }
  finding.verdict = "clean";
  return finding;
}

// On a terminal: how far it is. Ends with an empty line.
class Progress {
 public:
  explicit Progress(std::size_t total) : total_(total), shown_(isatty(STDERR_FILENO) == 1) {}
  ~Progress() {
    if (shown_) {
      dprintf(STDERR_FILENO, "\r\033[K");
    }
  }
  void At(std::size_t done) const {
    constexpr std::size_t kEvery = 64;
    if (shown_ && done % kEvery == 0) {
      dprintf(STDERR_FILENO, "\r%zu of %zu journals", done, total_);
    }
  }

 private:
  std::size_t total_;
  bool shown_;
};

// What is to be verified: journals, and stores as wholes.
struct Choice {
  std::vector<Journal> journals;
  std::vector<std::string> stores;
};

std::vector<Finding> CheckAll(const StateRoot& state, const Choice& choice) {
  const auto& journals = choice.journals;
  const auto seals = ReadSeals(state);
  std::vector<Finding> findings(journals.size());
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  // A journal for each core; a single one is split among them.
  const unsigned threads_each = journals.size() == 1 ? cores : 1;
  std::atomic<std::size_t> next = 0;
  const Progress progress(journals.size());
  const auto work = [&](bool reports) {
    for (std::size_t i = next++; i < journals.size(); i = next++) {
      findings[i] = Check(state, seals, journals[i], threads_each);
      if (reports) {
        progress.At(i);
      }
    }
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < std::min<std::size_t>(cores, journals.size()); ++i) {
    threads.emplace_back(work, false);
  }
  work(true);
  threads.clear();  // joins
  for (const auto& store : choice.stores) {
    findings.push_back(CheckStore(state, store));
  }
  return findings;
}

constexpr std::string_view kStorePrefix = "store/";

Result<Choice> Choose(const StateRoot& state, const JournalList& inventory,
                      const std::vector<std::string>& names) {
  StoreList stores;
  MACO_ASSIGN(stores, ListStores(StoreAccess::Of(state)));
  if (names.empty()) {
    return Choice{inventory.journals, stores.names};
  }
  Choice choice;
  for (const auto& name : names) {
    const std::string store =
        name.starts_with(kStorePrefix) ? name.substr(kStorePrefix.size()) : std::string();
    if (std::ranges::find(stores.names, store) != stores.names.end()) {
      choice.stores.push_back(store);
      continue;
    }
    Journal journal;
    MACO_ASSIGN(journal, FindJournal(inventory, name));
    choice.journals.push_back(std::move(journal));
  }
  return choice;
}

std::string Line(const std::string& name, const Finding& finding) {
  constexpr std::size_t kNameColumn = 40;
  std::string out = Padded(EscapeControl(name), kNameColumn) + Padded(finding.verdict, 14) +
                    EscapeControl(finding.problem) + "\n";
  if (!finding.remedy.empty()) {
    out += "    fix: " + EscapeControl(finding.remedy) + "\n";
  }
  return out;
}

Json JsonOf(const std::string& name, const Finding& finding) {
  return {{"journal", EscapeControl(name)},
          {"verdict", finding.verdict},
          {"ok", finding.ok()},
          {"records", finding.records},
          {"bytes", finding.bytes},
          {"running", finding.running},
          {"problem", EscapeControl(finding.problem)},
          {"remedy", EscapeControl(finding.remedy)}};
}

}  // namespace

Result<int> VerifyJournals(const Options& options) {
  auto state = OpenToRead();
  if (!state) {
    return Fail(std::move(state).error());
  }
  JournalList inventory;
  MACO_ASSIGN(inventory, ListJournals(*state));
  Choice choice;
  MACO_ASSIGN(choice, Choose(*state, inventory, options.names));
  const bool all = options.names.empty();
  std::vector<std::string> labels;
  for (const auto& journal : choice.journals) {
    labels.push_back(journal.name);
  }
  for (const auto& store : choice.stores) {
    labels.push_back(std::string(kStorePrefix) + store);
  }
  const auto findings = CheckAll(*state, choice);
  std::string text;
  Json lines = Json::array();
  std::uint64_t records = 0;
  std::uint64_t bad = 0;
  std::uint64_t running = 0;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const Finding& finding = findings[i];
    records += finding.records;
    bad += finding.ok() ? 0U : 1U;
    running += finding.running ? 1U : 0U;
    if (!finding.ok() || !all) {
      text += Line(labels[i], finding);
    }
    lines.push_back(JsonOf(labels[i], finding));
  }
  std::vector<std::string> unchecked;
  for (const auto& path : all ? inventory.strangers : std::vector<std::string>()) {
    text += "not a journal, and not ours: maco/" + EscapeControl(path) + "\n";
    ++bad;
  }
  if (running != 0) {
    unchecked.push_back(std::to_string(running) +
                        " journals are being written: what follows their heads was not looked at");
  }
  unchecked.emplace_back(
      "whether the whole state was put back to an older one: 'git maco journal anchor check'");
  if (options.json) {
    Json strangers = Json::array();
    for (const auto& path : inventory.strangers) {
      strangers.push_back(EscapeControl(path));
    }
    MACO_TRY(PrintDocument("maco.journal-verify/1", {{"journals", std::move(lines)},
                                                     {"strangers", std::move(strangers)},
                                                     {"ok", bad == 0},
                                                     {"not_checked", unchecked}}));
    return bad == 0 ? kExitOk : kExitNo;
  }
  text += std::to_string(choice.journals.size()) + " journals, " + std::to_string(records) +
          " records verified, " + std::to_string(bad) + " bad\n";
  for (const auto& what : unchecked) {
    text += "not checked: " + what + "\n";
  }
  MACO_TRY(Print(text));
  return bad == 0 ? kExitOk : kExitNo;
}

}  // namespace maco::journal

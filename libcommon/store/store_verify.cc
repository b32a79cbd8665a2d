// Full verification of one store, journal after journal.
// Contract: libcommon/store/store_verify.h.
#include "libcommon/store/store_verify.h"

#include <optional>
#include <utility>

#include "libcommon/store/beside_writer.h"
#include "libcommon/store/store_journal.h"
#include "libcommon/store/store_name.h"

namespace maco {
namespace {

class Verifier {
 public:
  Verifier(const StoreAccess& access, const Directory& directory, const std::string& name)
      : access_(access), directory_(directory) {
    report_.store = name;
  }

  Result<void> Run(const Result<std::optional<std::string>>& text, std::uint64_t entries) {
    Inventory inventory;
    MACO_ASSIGN(inventory, TakeInventory(directory_, report_.store, entries));
    if (!text || !*text) {
      if (text) {
        CheckNoJournals(report_.store, inventory);
      }
      report_.findings = std::move(inventory.problems);
      if (!text) {
        report_.findings.push_back(text.error());
      }
      return {};
    }
    auto locator = VerifyLocator(access_, report_.store, **text);
    if (!locator) {
      report_.findings = std::move(inventory.problems);
      report_.findings.push_back(std::move(locator).error());
      return {};
    }
    report_.locator = *std::move(locator);
    report_.created = report_.locator.active > 0;
    CheckInventory(report_.locator, inventory);
    report_.findings = std::move(inventory.problems);
    return CheckJournals(inventory);
  }

  StoreReport TakeReport() { return std::move(report_); }

 private:
  Result<void> CheckJournals(const Inventory& inventory) {
    const Locator& locator = report_.locator;
    for (const std::uint64_t n : inventory.journals) {
      if (n < locator.FirstKept()) {
        JournalReport leftover;
        leftover.n = n;
        leftover.role = JournalRole::kArchived;
        leftover.intact = true;
        report_.journals.push_back(leftover);
      }
    }
    const auto readable = [&](std::uint64_t n) {
      return inventory.journals.contains(n) && !inventory.unsafe.contains(n);
    };
    for (const RetainedJournal& retained : locator.retained) {
      if (readable(retained.n)) {
        MACO_TRY(CheckRetained(retained));
      } else {
        previous_.reset();
      }
    }
    if (locator.active > 0 && readable(locator.active)) {
      MACO_TRY(CheckActive());
    }
    if (locator.prepared && readable(locator.active + 1)) {
      MACO_TRY(CheckPrepared(locator.active + 1));
    }
    return {};
  }

  // What a failure of reading a journal means: a finding, unless the system failed.
  Result<void> Note(JournalReport& journal, Error error) {
    if (error.code == Code::kIo) {
      return Fail(std::move(error));
    }
    journal.intact = false;
    report_.findings.push_back(std::move(error));
    previous_.reset();
    return {};
  }

  Error Finding(std::uint64_t n, std::string what) const {
    return InJournal(report_.store, n, MakeError(Code::kCorrupt, std::move(what)));
  }

  // The content, or nothing after a finding.
  Result<std::optional<JournalContent>> Read(JournalReport& journal, Result<LogReader>& reader) {
    if (!reader) {
      MACO_TRY(Note(journal, std::move(reader).error()));
      return std::optional<JournalContent>();
    }
    auto content = ReadJournal(*reader);
    if (!content) {
      MACO_TRY(Note(journal, InJournal(report_.store, journal.n, std::move(content).error())));
      return std::optional<JournalContent>();
    }
    journal.intact = true;
    journal.first_generation = content->first_generation;
    journal.last_generation = content->last_generation;
    journal.records = content->records;
    journal.bytes = reader->end();
    return std::optional(*std::move(content));
  }

  // Rule 5; then the table at this journal's end is what the next one must begin with.
  Result<void> CheckBase(JournalReport& journal, const JournalContent& content) {
    const bool differs = previous_ && *previous_ != content.base_digest;
    if (differs) {
      MACO_TRY(Note(journal, Finding(journal.n,
                                     "its base is not the table that the journal before "
                                     "it ended with")));
    }
    if (!journal.intact && !differs) {
      return {};
    }
    MACO_ASSIGN(previous_, content.table.ComputeDigest());
    return {};
  }

  Result<void> CheckRetained(const RetainedJournal& retained) {
    JournalReport journal;
    journal.n = retained.n;
    auto reader = OpenJournal(directory_, access_, report_.store, retained.n, retained.log_id);
    std::optional<JournalContent> content;
    MACO_ASSIGN(content, Read(journal, reader));
    if (content) {
      if (reader->last_sequence() != retained.sequence ||
          !SameMac(reader->last_mac(), retained.mac)) {
        MACO_TRY(Note(journal, Finding(retained.n,
                                       "its last record is not the one that the "
                                       "locator names: it was cut or extended")));
      } else if (content->first_generation != retained.first_generation ||
                 content->last_generation != retained.last_generation) {
        MACO_TRY(Note(journal, Finding(retained.n,
                                       "its generations are not those that the "
                                       "locator names")));
      }
      MACO_TRY(CheckBase(journal, *content));
    }
    report_.journals.push_back(journal);
    return {};
  }

  Result<void> CheckActive() {
    JournalReport journal;
    journal.n = report_.locator.active;
    journal.role = JournalRole::kActive;
    auto reader =
        OpenJournal(directory_, access_, report_.store, journal.n, report_.locator.active_log_id);
    std::optional<JournalContent> content;
    MACO_ASSIGN(content, Read(journal, reader));
    if (content) {
      if (auto base = CheckBaseGeneration(report_.locator, content->first_generation); !base) {
        MACO_TRY(Note(journal, std::move(base).error()));
      }
      MACO_TRY(CheckBase(journal, *content));
      report_.generation = content->last_generation;
      report_.rows = content->table.size().rows;
    }
    report_.journals.push_back(journal);
    return {};
  }

  Result<void> CheckPrepared(std::uint64_t n) {
    JournalReport journal;
    journal.n = n;
    journal.role = JournalRole::kPrepared;
    journal.intact = true;
    const auto key = KeyOfStoreJournal(directory_, access_, report_.store, n);
    auto reader = key ? LogReader::OpenTorn(directory_, JournalName(n), *key->key, key->identity)
                      : Result<LogReader>(Fail(key.error()));
    auto delta = reader ? HasDelta(*reader) : Fail(std::move(reader).error());
    if (!delta) {
      MACO_TRY(Note(journal, InJournal(report_.store, n, std::move(delta).error())));
    } else if (*delta) {
      MACO_TRY(Note(journal, Finding(n, "it was active, so an older locator was put back")));
    }
    report_.journals.push_back(journal);
    return {};
  }

  const StoreAccess& access_;
  const Directory& directory_;
  StoreReport report_;
  std::optional<Digest> previous_;  // of the table at the end of the journal before
};

}  // namespace

Result<StoreReport> VerifyStore(const StoreAccess& access, const std::string& name,
                                std::uint64_t entries) {
  auto directory = OpenStoreDirectory(access, name);
  if (!directory) {
    return Fail(std::move(directory).error());
  }
  for (int attempt = 0;; ++attempt) {
    auto text = ReadLocatorText(*directory, name);
    if (!text && text.error().code == Code::kIo) {
      return Fail(std::move(text).error());
    }
    Verifier verifier(access, *directory, name);
    MACO_TRY(verifier.Run(text, entries));
    StoreReport report = verifier.TakeReport();
    if (report.intact() || !WorthRetrying(*directory, name, text.value_or(std::nullopt), attempt)) {
      return report;
    }
  }
}

}  // namespace maco

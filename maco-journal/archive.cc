// `git maco journal archive`: closed journals of stores into signed segments, which frees the
// quota. Contract: git-maco-journal(1), docs/formats/archive.md.
#include "libcommon/base/exit_code.h"
#include "libcommon/cli/document.h"
#include "libcommon/cli/output.h"
#include "libcommon/store/store.h"
#include "libcommon/store/store_list.h"
#include "maco-journal/archive_segment.h"
#include "maco-journal/place.h"
#include "maco-journal/verbs.h"

namespace maco::journal {
namespace {

// As many journals as one segment can hold; the rest goes into the next.
constexpr std::uint64_t kMaxSegmentBytes = std::uint64_t{512} << 20U;

Result<Segment> NextSegment(const StateRoot& state, const Store& store) {
  Segment segment;
  segment.store = store.name();
  std::uint64_t bytes = 0;
  for (const auto& retained : store.locator().retained) {
    constexpr std::size_t kDigits = 6;
    std::string number = std::to_string(retained.n);
    number.insert(0, kDigits - std::min(kDigits, number.size()), '0');
    const Journal journal = Journal::OfStore(store.name(), number + ".log");
    const auto summary = Verify(state, journal);
    if (!summary) {
      return Fail(summary.error());
    }
    if (summary->verdict != LogVerdict::kClean || summary->records != retained.sequence ||
        !SameMac(summary->last_mac, retained.mac)) {
      return Fail(Code::kCorrupt, "journal '" + journal.name + "' is not as its store closed it",
                  "git maco journal verify store/" + store.name());
    }
    bytes += summary->bytes;
    if (bytes > kMaxSegmentBytes && !segment.journals.empty()) {
      break;
    }
    segment.journals.push_back(
        {retained.n, journal.object_id, summary->bytes, summary->records, summary->last_mac});
  }
  return segment;
}

struct Outcome {
  std::string store;
  std::vector<std::string> segments;
  std::uint64_t journals = 0;
};

Result<Outcome> ArchiveStore(const StateRoot& state, const std::string& name, bool dry_run) {
  Outcome outcome;
  outcome.store = name;
  StoreOptions store_options;
  auto store = Store::Open(StoreAccess::Of(state), name, store_options);
  if (!store) {
    return Fail(std::move(store).error());
  }
  while (!store->locator().retained.empty()) {
    Segment segment;
    MACO_ASSIGN(segment, NextSegment(state, *store));
    outcome.segments.push_back(SegmentName(segment));
    outcome.journals += segment.journals.size();
    if (dry_run) {
      break;
    }
    MACO_TRY(WriteSegment(state, segment));
    const ArchivedJournal& last = segment.journals.back();
    MACO_TRY(store->DropRetained(last.n, last.mac));
    MACO_TRY(Audit(state, {{"event", "archived"},
                           {"store", name},
                           {"through", last.n},
                           {"segment", outcome.segments.back()}}));
  }
  MACO_TRY(store->Close());
  return outcome;
}

}  // namespace

Result<int> Archive(const Options& options) {
  auto state = OpenToWrite();
  if (!state) {
    return Fail(std::move(state).error());
  }
  std::vector<std::string> names = options.names;
  if (names.empty()) {
    StoreList list;
    MACO_ASSIGN(list, ListStores(StoreAccess::Of(*state)));
    names = list.names;
  }
  std::string text;
  Json stores = Json::array();
  for (const auto& name : names) {
    Outcome outcome;
    MACO_ASSIGN(outcome, ArchiveStore(*state, name, options.dry_run));
    stores.push_back(
        {{"store", name}, {"segments", outcome.segments}, {"journals", outcome.journals}});
    text += "store " + name + ": " + std::to_string(outcome.journals) + " closed journals" +
            (options.dry_run ? " would be archived\n" : " archived\n");
  }
  if (options.json) {
    MACO_TRY(PrintDocument("maco.journal-archive/1",
                           {{"stores", std::move(stores)}, {"dry_run", options.dry_run}}));
  } else {
    MACO_TRY(Print(text.empty() ? "there are no stores\n" : text));
  }
  return kExitOk;
}

}  // namespace maco::journal

// Encoding of anchors, and comparing one with what is there.
// Contract: maco-journal/anchor_document.h.
#include "maco-journal/anchor_document.h"

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/byte_codec.h"
#include "libcommon/base/clock.h"
#include "libcommon/base/text.h"
#include "libcommon/state/journals.h"
#include "libcommon/state/prune_log.h"
#include "libcommon/state/run_event.h"

namespace maco::journal {
namespace {

constexpr char kDomain[] = "maco.anchor/1";
constexpr std::size_t kMaxHeadBytes = 4096;

Error NotAnAnchor() {
  return MakeError(Code::kCorrupt, "what the remote holds is not an anchor of this repository",
                   "find out who wrote it; 'git ls-remote' shows the ref");
}

// The MAC of record `number` of a journal, empty if it has fewer.
Result<std::string> MacOfRecord(const StateRoot& state, const Journal& journal,
                                std::uint64_t number) {
  auto reader = OpenForReading(state, journal);
  if (!reader) {
    return Fail(std::move(reader).error());
  }
  std::string mac;
  for (;;) {
    std::optional<LogEntry> entry;
    MACO_ASSIGN(entry, reader->Next());
    if (!entry || entry->sequence > number) {
      return mac;
    }
    if (entry->sequence == number) {
      mac = ToHex(entry->mac);
    }
  }
}

std::string Lines(const AnchorDocument& anchor) {
  std::string out;
  for (const auto& [name, end] : anchor.journals) {
    out += name + " " + std::to_string(end.records) + " " + end.mac + "\n";
  }
  return out;
}

// How one journal differs from what the anchor says; empty if it does not.
std::string Loss(const StateRoot& state, const JournalList& inventory, const std::string& name,
                 const AnchorEnd& end) {
  for (const auto& journal : inventory.journals) {
    if (journal.name != name) {
      continue;
    }
    if (end.records == 0) {
      return {};
    }
    const auto mac = MacOfRecord(state, journal, end.records);
    if (!mac) {
      return "does not verify: " + mac.error().message;
    }
    if (mac->empty()) {
      return "ends before its record " + std::to_string(end.records);
    }
    return *mac == end.mac ? "" : "has another record " + std::to_string(end.records);
  }
  return "is gone";
}

// A run that we deleted ourselves, with the end that it had then, is no loss.
bool WasPruned(const std::map<std::string, PrunedRun>& pruned, const std::string& name,
               const AnchorEnd& end) {
  constexpr std::string_view kRun = "run/";
  if (!name.starts_with(kRun)) {
    return false;
  }
  const auto run = pruned.find(name.substr(kRun.size()));
  return run != pruned.end() &&
         (run->second.records > end.records ||
          (run->second.records == end.records && run->second.last_mac == end.mac));
}

}  // namespace

Result<AnchorDocument> PresentAnchor(const StateRoot& state) {
  AnchorDocument anchor;
  anchor.time_us = WallMicros();
  JournalList inventory;
  MACO_ASSIGN(inventory, ListJournals(state));
  if (!inventory.unreadable.empty()) {
    return Fail(inventory.unreadable.front());
  }
  for (const auto& journal : inventory.journals) {
    const auto summary = Verify(state, journal);
    if (!summary && summary.error().code == Code::kNotFound) {
      continue;  // a run that was killed before it had a journal
    }
    if (!summary || !summary->intact()) {
      return Fail(Code::kCorrupt, "journal '" + journal.name + "' does not verify",
                  "git maco journal verify " + journal.name);
    }
    anchor.journals[journal.name] = {summary->records, ToHex(summary->last_mac)};
  }
  return anchor;
}

Result<std::string> EncodeAnchor(const StateRoot& state, const AnchorDocument& anchor) {
  const std::string lines = Lines(anchor);
  std::string head;
  MACO_ASSIGN(head, SignDocument({{"schema", kDomain},
                                  {"repository", state.repository_id()},
                                  {"epoch", state.epoch()},
                                  {"number", anchor.number},
                                  {"time_us", anchor.time_us},
                                  {"lines_sha256", ToHex(Sha256(AsBytes(lines)))}},
                                 state.key(), kDomain, state.repository_id()));
  if (head.size() + lines.size() + 1 > kMaxAnchorBytes) {
    return Fail(Code::kLimit, "there are too many journals for an anchor",
                "prune old runs: git maco prune");
  }
  return head + "\n" + lines;
}

Result<AnchorDocument> DecodeAnchor(const StateRoot& state, std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos || end > kMaxHeadBytes) {
    return Fail(NotAnAnchor());
  }
  const auto unverified = ParseJson(text.substr(0, end), kMaxHeadBytes);
  if (!unverified || !unverified->is_object()) {
    return Fail(NotAnAnchor());
  }
  const std::string schema = EventText(*unverified, "schema");
  if (schema != kDomain && schema.starts_with("maco.anchor/")) {
    return Fail(Code::kUnsupported, "the anchor was written by another version, as " + schema,
                "upgrade git-maco");
  }
  const std::uint64_t epoch = EventUint(*unverified, "epoch");
  if (epoch > UINT32_MAX) {
    return Fail(NotAnAnchor());
  }
  const Key* key = nullptr;
  MACO_ASSIGN(key, state.KeyOf(static_cast<std::uint32_t>(epoch)));
  const auto head =
      VerifyDocument(text.substr(0, end), kMaxHeadBytes, *key, kDomain, state.repository_id());
  const std::string_view lines = text.substr(end + 1);
  if (!head || EventText(*head, "lines_sha256") != ToHex(Sha256(AsBytes(lines)))) {
    return Fail(NotAnAnchor());
  }
  AnchorDocument anchor;
  anchor.number = EventUint(*head, "number");
  anchor.time_us = EventUint(*head, "time_us");
  for (const auto line : Split(lines, '\n')) {
    if (line.empty()) {
      continue;  // what follows the last newline
    }
    const auto fields = Split(line, ' ');
    const auto records = fields.size() == 3 ? ParseUint(fields[1]) : std::nullopt;
    if (!records) {
      return Fail(NotAnAnchor());
    }
    anchor.journals[std::string(fields[0])] = {*records, std::string(fields[2])};
  }
  return anchor;
}

Result<std::vector<std::string>> LostSince(const StateRoot& state, const AnchorDocument& anchor) {
  JournalList inventory;
  MACO_ASSIGN(inventory, ListJournals(state));
  std::map<std::string, PrunedRun> pruned;
  MACO_ASSIGN(pruned, ReadPruneLog(state));
  std::vector<std::string> out;
  for (const auto& [name, end] : anchor.journals) {
    const std::string loss = Loss(state, inventory, name, end);
    if (!loss.empty() && !WasPruned(pruned, name, end)) {
      out.push_back("journal '" + name + "' " + loss);
    }
  }
  return out;
}

}  // namespace maco::journal

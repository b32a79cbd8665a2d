// Writing and verifying of segments.
// Contract: maco-journal/archive_segment.h, docs/formats/archive.md.
#include "maco-journal/archive_segment.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/byte_codec.h"
#include "libcommon/base/text.h"
#include "libcommon/state/run_event.h"

namespace maco::journal {
namespace {

constexpr char kSchema[] = "maco.archive-event/1";
constexpr char kBegin[] = "segment_begin";
constexpr char kPart[] = "journal_part";
constexpr char kEnd[] = "segment_end";
constexpr std::size_t kPartBytes = std::size_t{512} << 10U;

Error BadSegment(const std::string& name, const std::string& why) {
  return MakeError(Code::kCorrupt, "'" + name + "' is no valid archive segment: " + why,
                   "restore 'maco/archive' in the Git directory from a backup");
}

// A record: a line of JSON, then bytes of a journal.
Result<void> Append(LogWriter& log, Json head, std::span<const std::uint8_t> bytes,
                    Durability durability) {
  head["schema"] = kSchema;
  std::string text;
  MACO_ASSIGN(text, Canonicalize(head));
  Bytes payload(text.begin(), text.end());
  payload.push_back('\n');
  payload.insert(payload.end(), bytes.begin(), bytes.end());
  MACO_TRY(log.Append(payload, durability));
  return {};
}

struct Part {
  Json head;
  std::span<const std::uint8_t> bytes;
};

Result<Part> ParsePart(const LogEntry& entry) {
  const auto end = std::ranges::find(entry.payload, std::uint8_t{'\n'});
  Part part;
  const auto length = static_cast<std::size_t>(end - entry.payload.begin());
  MACO_ASSIGN(part.head, ParseEvent(entry.payload.first(length), entry.sequence));
  part.bytes = entry.payload.subspan(std::min(length + 1, entry.payload.size()));
  return part;
}

Json HeadOf(const Segment& segment) {
  Json journals = Json::array();
  for (const auto& journal : segment.journals) {
    journals.push_back({{"n", journal.n},
                        {"object_id", journal.object_id},
                        {"bytes", journal.bytes},
                        {"records", journal.records},
                        {"mac", ToHex(journal.mac)}});
  }
  return {{"event", kBegin}, {"store", segment.store}, {"journals", std::move(journals)}};
}

std::optional<Segment> ParseHead(const Json& head) {
  Segment segment;
  segment.store = EventText(head, "store");
  if (EventText(head, "event") != kBegin || !head.contains("journals") ||
      !head["journals"].is_array()) {
    return std::nullopt;
  }
  for (const auto& item : head["journals"]) {
    if (!item.is_object()) {
      return std::nullopt;
    }
    ArchivedJournal journal;
    journal.n = EventUint(item, "n");
    journal.object_id = EventText(item, "object_id");
    journal.bytes = EventUint(item, "bytes");
    journal.records = EventUint(item, "records");
    const auto mac = FromHex(EventText(item, "mac"));
    if (!mac || mac->size() != journal.mac.size()) {
      return std::nullopt;
    }
    std::ranges::copy(*mac, journal.mac.begin());
    segment.journals.push_back(std::move(journal));
  }
  return segment;
}

// Copies one journal, as far as its last record, into the segment.
Result<void> CopyJournal(const StateRoot& state, const Segment& segment,
                         const ArchivedJournal& journal, LogWriter& log) {
  constexpr std::size_t kDigits = 6;
  std::string number = std::to_string(journal.n);
  number.insert(0, kDigits - std::min(kDigits, number.size()), '0');
  UniqueFd fd;
  MACO_ASSIGN(fd, state.dir().OpenFile("stores/" + segment.store + "/" + number + ".log",
                                       O_RDONLY | O_NONBLOCK));
  Bytes buffer(kPartBytes);
  for (std::uint64_t done = 0; done < journal.bytes;) {
    const auto count = std::min<std::uint64_t>(buffer.size(), journal.bytes - done);
    const auto part = std::span(buffer).first(static_cast<std::size_t>(count));
    std::size_t got = 0;
    MACO_ASSIGN(got, PreadFull(fd.get(), part, done));
    if (got != part.size()) {
      return Fail(Code::kCorrupt, "journal '" + journal.object_id + "' is shorter than it was",
                  "git maco journal verify store/" + segment.store);
    }
    MACO_TRY(Append(log, {{"event", kPart}, {"n", journal.n}, {"offset", done}}, part,
                    Durability::kRecord));
    done += count;
  }
  return {};
}

// Verifies the copy of a journal like the journal itself, from memory.
Result<void> VerifyCopy(const StateRoot& state, const std::string& name, UniqueFd fd,
                        const ArchivedJournal& journal) {
  auto reader = ReaderOf(state, std::move(fd), journal.object_id);
  if (!reader) {
    return Fail(BadSegment(name, journal.object_id + ": " + reader.error().message));
  }
  std::uint64_t records = 0;
  Mac mac{};
  for (;;) {
    auto entry = reader->Next();
    if (!entry) {
      return Fail(BadSegment(name, journal.object_id + ": " + entry.error().message));
    }
    if (!*entry) {
      break;
    }
    records = (*entry)->sequence;
    mac = (*entry)->mac;
  }
  if (records != journal.records || !SameMac(mac, journal.mac)) {
    return Fail(BadSegment(name, journal.object_id + " does not end as it says"));
  }
  return {};
}

Result<UniqueFd> MemoryFile() {
  UniqueFd fd(memfd_create("journal", MFD_CLOEXEC));
  if (!fd.valid()) {
    return FailOs(errno, "make a file in memory");
  }
  return fd;
}

}  // namespace

std::string SegmentName(const Segment& segment) {
  return segment.store + "-" + std::to_string(segment.journals.front().n) + "-" +
         std::to_string(segment.journals.back().n);
}

Result<Segment> ReadSegment(const StateRoot& state, const Journal& journal) {
  auto reader = OpenForReading(state, journal);
  if (!reader) {
    return Fail(std::move(reader).error());
  }
  std::optional<Segment> segment;
  std::size_t at = 0;        // index of the journal whose parts come
  std::uint64_t offset = 0;  // in it
  UniqueFd copy;
  MACO_ASSIGN(copy, MemoryFile());
  bool ended = false;
  for (;;) {
    std::optional<LogEntry> entry;
    MACO_ASSIGN(entry, reader->Next());
    if (!entry) {
      break;
    }
    Part part;
    MACO_ASSIGN(part, ParsePart(*entry));
    const std::string event = EventText(part.head, "event");
    if (!segment) {
      segment = ParseHead(part.head);
      if (!segment || segment->journals.empty()) {
        return Fail(BadSegment(journal.name, "it does not say what it holds"));
      }
      continue;
    }
    if (event == kEnd && at == segment->journals.size() && !ended) {
      ended = true;
      continue;
    }
    const bool expected = event == kPart && !ended && at < segment->journals.size() &&
                          EventUint(part.head, "n") == segment->journals[at].n &&
                          EventUint(part.head, "offset") == offset;
    if (!expected) {
      return Fail(BadSegment(journal.name, "record " + std::to_string(entry->sequence) +
                                               " is not the one that follows"));
    }
    MACO_TRY(PwriteAll(copy.get(), part.bytes, offset));
    offset += part.bytes.size();
    if (offset >= segment->journals[at].bytes) {
      MACO_TRY(VerifyCopy(state, journal.name, std::move(copy), segment->journals[at]));
      MACO_ASSIGN(copy, MemoryFile());
      offset = 0;
      ++at;
    }
  }
  if (!ended) {
    return Fail(BadSegment(journal.name, "it is not complete"));
  }
  return *std::move(segment);
}

Result<void> WriteSegment(const StateRoot& state, const Segment& segment) {
  const Journal journal = Journal::OfArchive(SegmentName(segment));
  MACO_TRY(state.dir().OpenOrCreate(journal.directory, 0700));
  MACO_TRY(state.dir().Sync());
  Directory directory;
  MACO_ASSIGN(directory, OpenJournalDirectory(state, journal));
  if (directory.Stat(journal.file)) {
    const auto there = ReadSegment(state, journal);
    if (there && HeadOf(*there) == HeadOf(segment)) {
      return {};
    }
    if (there) {
      return Fail(Code::kExists, "'" + journal.name + "' is there and holds something else",
                  "move it away");
    }
    MACO_TRY(directory.Unlink(journal.file));  // a crash left it unfinished: its journals are there
  }
  auto log = LogWriter::Create(directory, journal.file, state.key(),
                               {state.repository_id(), journal.object_id, state.epoch()});
  if (!log) {
    return Fail(std::move(log).error());
  }
  MACO_TRY(Append(*log, HeadOf(segment), {}, Durability::kRecord));
  for (const auto& part : segment.journals) {
    MACO_TRY(CopyJournal(state, segment, part, *log));
  }
  MACO_TRY(Append(*log, {{"event", kEnd}}, {}, Durability::kRecordAndHead));
  MACO_TRY(log->Close());
  // Nothing is given up before what was written has been read back.
  MACO_TRY(ReadSegment(state, journal));
  return {};
}

}  // namespace maco::journal

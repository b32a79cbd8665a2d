// The grammar of a journal: base records, their end, deltas that count up.
// Contract: libcommon/store/store_journal.h.
#include "libcommon/store/store_journal.h"

#include <string>
#include <utility>

#include "libcommon/base/byte_codec.h"
#include "libcommon/base/clock.h"
#include "libcommon/store/store_record.h"

namespace maco {
namespace {

// Around the rows of a base record: its members, with the longest numbers, rounded up.
constexpr std::uint64_t kBaseOverhead = 256;
constexpr std::uint64_t kBaseRowsBytes = kMaxPayloadBytes - kBaseOverhead;

Error Wrong(std::uint64_t sequence, const std::string& reason) {
  return MakeError(Code::kCorrupt, "record " + std::to_string(sequence) + ": " + reason);
}

// Takes record after record.
class JournalParser {
 public:
  Result<void> Take(StoreRecord record) {
    switch (record.kind) {
      case StoreRecord::Kind::kBase:
        return TakeBase(std::move(record));
      case StoreRecord::Kind::kBaseEnd:
        return TakeBaseEnd(record);
      case StoreRecord::Kind::kDelta:
        return TakeDelta(std::move(record));
    }
    return {};
  }

  bool complete() const { return base_ended_; }
  JournalContent TakeContent() { return std::move(content_); }

 private:
  static Result<void> Refuse(const char* reason) { return Fail(Code::kCorrupt, reason); }

  Result<void> TakeBase(StoreRecord record) {
    if (base_ended_) {
      return Refuse("a base record after the end of the base");
    }
    if (begun_ && record.generation != content_.first_generation) {
      return Refuse("the base is of two generations");
    }
    const Table::Rows& rows = content_.table.rows();
    if (!rows.empty() && rows.rbegin()->first >= record.change.put.begin()->first) {
      return Refuse("the keys of the base do not ascend");
    }
    begun_ = true;
    content_.first_generation = record.generation;
    return Apply(std::move(record.change));
  }

  Result<void> TakeBaseEnd(const StoreRecord& record) {
    if (base_ended_ || (begun_ && record.generation != content_.first_generation)) {
      return Refuse("the base ends twice, or with another generation");
    }
    Digest digest{};
    MACO_ASSIGN(digest, content_.table.ComputeDigest());
    if (record.rows != content_.table.size().rows || record.digest != digest) {
      return Refuse("the base has not the rows that its end says");
    }
    base_ended_ = true;
    content_.first_generation = record.generation;
    content_.last_generation = record.generation;
    content_.base_digest = digest;
    return {};
  }

  Result<void> TakeDelta(StoreRecord record) {
    if (!base_ended_) {
      return Refuse("a delta before the end of the base");
    }
    if (record.generation != content_.last_generation + 1) {
      return Refuse("generations do not count up by one");
    }
    content_.last_generation = record.generation;
    return Apply(std::move(record.change));
  }

  Result<void> Apply(TableChange change) {
    if (auto done = content_.table.Apply(std::move(change)); !done) {
      return Fail(Code::kCorrupt, done.error().message);
    }
    return {};
  }

  JournalContent content_;
  bool begun_ = false;
  bool base_ended_ = false;
};

// The record being filled, and how much of it is left.
class BaseWriter {
 public:
  BaseWriter(LogWriter& writer, std::uint64_t generation) : writer_(writer) {
    record_.kind = StoreRecord::Kind::kBase;
    record_.generation = generation;
    record_.time_us = WallMicros();
  }

  Result<void> Add(const std::string& key, const Row& row) {
    const std::uint64_t bytes = KeyBytes(key) + row.bytes() + 2;  // a colon, a comma
    if (used_ + bytes > kBaseRowsBytes) {
      MACO_TRY(Flush());
    }
    record_.change.put.emplace(key, Row::OfCanonical(row.text()));
    used_ += bytes;
    return {};
  }

  Result<void> Flush() {
    if (used_ > 0) {
      std::string text;
      MACO_ASSIGN(text, EncodeRecord(record_));
      MACO_TRY(writer_.Append(AsBytes(text), Durability::kRecord));
      record_.change.put.clear();
      used_ = 0;
    }
    return {};
  }

 private:
  LogWriter& writer_;
  StoreRecord record_;
  std::uint64_t used_ = 0;
};

}  // namespace

Result<JournalContent> ReadJournal(LogReader& reader) {
  JournalParser parser;
  std::uint64_t records = 0;
  bool durable = true;
  for (;;) {
    std::optional<LogEntry> entry;
    MACO_ASSIGN(entry, reader.Next());
    if (!entry) {
      break;
    }
    auto record = DecodeRecord(AsText(entry->payload));
    if (!record) {
      return Fail(std::move(record).error());
    }
    if (auto taken = parser.Take(*std::move(record)); !taken) {
      return Fail(Wrong(entry->sequence, taken.error().message));
    }
    durable = durable && entry->named;
    ++records;
  }
  if (!parser.complete()) {
    return Fail(Code::kCorrupt, "its base has no end");
  }
  JournalContent content = parser.TakeContent();
  content.records = records;
  content.durable = durable;
  return content;
}

Result<bool> HasDelta(LogReader& reader) {
  for (;;) {
    std::optional<LogEntry> entry;
    MACO_ASSIGN(entry, reader.Next());
    if (!entry) {
      return false;
    }
    const auto record = DecodeRecord(AsText(entry->payload));
    if (record && record->kind == StoreRecord::Kind::kDelta) {
      return true;
    }
  }
}

Result<void> WriteBase(LogWriter& writer, const Table& table, std::uint64_t generation) {
  BaseWriter base(writer, generation);
  for (const auto& [key, row] : table.rows()) {
    MACO_TRY(base.Add(key, row));
  }
  MACO_TRY(base.Flush());
  StoreRecord end;
  end.kind = StoreRecord::Kind::kBaseEnd;
  end.generation = generation;
  end.time_us = WallMicros();
  end.rows = table.size().rows;
  MACO_ASSIGN(end.digest, table.ComputeDigest());
  std::string text;
  MACO_ASSIGN(text, EncodeRecord(end));
  MACO_TRY(writer.Append(AsBytes(text), Durability::kRecordAndHead));
  return {};
}

BaseBound BoundBase(const TableSize& size) {
  constexpr std::uint64_t kAroundRecord = kFrameHeaderBytes + kBaseOverhead;
  const std::uint64_t rows = size.table_bytes() + 2 * size.rows;
  // Two records in a row hold together more than one full one; then one more, and the end.
  const std::uint64_t records = 2 * (rows / kBaseRowsBytes) + 2;
  return {kFirstRecordOffset + rows + records * kAroundRecord, records};
}

}  // namespace maco

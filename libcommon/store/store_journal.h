// Reads the journals of a store into tables, and writes the base that a new one begins with.
// Contract: docs/formats/store.md ("Journal").
#pragma once
#include <cstdint>

#include "libcommon/auth/mac.h"
#include "libcommon/base/result.h"
#include "libcommon/log/log_reader.h"
#include "libcommon/log/log_writer.h"
#include "libcommon/store/table.h"

namespace maco {

// What one journal says from beginning to end.
struct JournalContent {
  Table table;                         // after the last record
  std::uint64_t first_generation = 0;  // of the base
  std::uint64_t last_generation = 0;
  Digest base_digest{};
  std::uint64_t records = 0;
  bool durable = true;  // a head names every record
};

// Reads all that the reader has; every MAC, the grammar, the generations and the base's digest are
// verified on the way. Errors: kCorrupt, kUnsupported (a later version), kIo.
Result<JournalContent> ReadJournal(LogReader& reader);

// Whether a journal that is only prepared has a delta, which none may have. The reader may end in a
// torn tail. Errors: as LogReader::Next; records that are none of ours count as no delta.
Result<bool> HasDelta(LogReader& reader);

// Appends base and base_end; record and head are durable when it returns. Errors: as
// LogWriter::Append.
Result<void> WriteBase(LogWriter& writer, const Table& table, std::uint64_t generation);

// An upper bound for the end of a journal that has only the base of such a table, and for how many
// records that are.
struct BaseBound {
  std::uint64_t bytes = 0;
  std::uint64_t records = 0;
};
BaseBound BoundBase(const TableSize& size);

}  // namespace maco

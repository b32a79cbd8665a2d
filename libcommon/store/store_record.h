// One record of a journal: part of its base, the end of the base, or a delta. No I/O.
// Contract: docs/formats/store.md ("Journal").
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "libcommon/auth/mac.h"
#include "libcommon/base/result.h"
#include "libcommon/store/table.h"

namespace maco {

struct StoreRecord {
  enum class Kind { kBase, kBaseEnd, kDelta };
  Kind kind = Kind::kDelta;
  std::uint64_t generation = 0;
  std::uint64_t time_us = 0;  // wall clock, for people
  TableChange change;         // base (only `put`), delta
  std::uint64_t rows = 0;     // base_end
  Digest digest{};            // base_end, of the base's table
};

// Errors: as Canonicalize, without its bound of the size; kInvalid (a base or delta without a
// change).
Result<std::string> EncodeRecord(const StoreRecord& record);

// Accepts exactly what EncodeRecord gives, as far as one record shows: keys and their order are
// looked at when it is applied. Errors: kCorrupt, kUnsupported (a later version).
Result<StoreRecord> DecodeRecord(std::string_view text);

// The bytes of a canonical delta without its rows and keys, with the longest numbers.
std::uint64_t DeltaOverhead();

}  // namespace maco

// How much of a journal must stay free so that every row can be let go of.
// Contract: docs/formats/store.md ("Room for letting go").
#pragma once
#include <cstdint>

#include "libcommon/store/store_limits.h"
#include "libcommon/store/table.h"

namespace maco {

// D: bytes of deleting each row by a delta of its own.
std::uint64_t DeleteRoom(const TableSize& size);
// E: bytes of replacing each row by a delta of its own with a row of `release_bytes`.
std::uint64_t ReplaceRoom(const TableSize& size, std::uint64_t release_bytes);

// D + E + base: what a journal of this table needs before it can take anything else.
struct TableNeed {
  std::uint64_t bytes = 0;
  std::uint64_t records = 0;
};
TableNeed NeedOf(const TableSize& size, const StoreLimits& limits);

}  // namespace maco

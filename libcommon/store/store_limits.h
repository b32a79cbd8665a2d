// Limits of stores with their defaults, and how full a store is.
// Contract: docs/formats/store.md ("Limits"). Requirement SNAP-03.
#pragma once
#include <cstddef>
#include <cstdint>

#include "libcommon/base/result.h"

namespace maco {

// Checked before anything is written. A store that exceeds them opens, and may shrink.
struct StoreLimits {
  std::uint64_t rows = 4096;
  std::uint64_t table_bytes = std::uint64_t{4} << 20U;  // canonical rows with their keys
  std::uint64_t row_bytes = std::uint64_t{64} << 10U;   // one canonical row without its key
  std::uint64_t release_bytes = 512;                    // a row that a marked release may put
  std::uint64_t journal_bytes = std::uint64_t{16} << 20U;
  std::uint64_t journal_records = 65'536;
  std::uint64_t retained = 128;           // closed journals
  std::uint64_t directory_entries = 256;  // names in the directory of a store
  std::uint64_t stores = 64;              // in the state root
};

// Errors: kInvalid (above a bound of the format, or they contradict each other).
Result<void> CheckLimits(const StoreLimits& limits);

// How full a store is, for `git maco status`.
struct StoreFill {
  std::uint64_t rows = 0;
  std::uint64_t table_bytes = 0;
  std::uint64_t active_bytes = 0;    // end of the active journal
  std::uint64_t active_records = 0;  // in it
  std::uint64_t reserved_bytes = 0;  // D + E: room kept after `active_bytes` for releases
  std::uint64_t retained = 0;        // closed journals
  StoreLimits limits;                // what all this is measured against
};

}  // namespace maco

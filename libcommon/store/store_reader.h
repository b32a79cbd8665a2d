// ReadStore: the table of a store at one generation, without a lock, also beside a writer.
// Contract: docs/formats/store.md ("Reading beside a writer").
#pragma once
#include <cstdint>
#include <string>

#include "libcommon/base/result.h"
#include "libcommon/store/locator.h"
#include "libcommon/store/store_directory.h"
#include "libcommon/store/store_limits.h"
#include "libcommon/store/table.h"

namespace maco {

struct StoreSnapshot {
  Table table;
  std::uint64_t generation = 0;
  // False if a crash left the last commits behind the head. Before acting on them, open the store
  // for writing: that makes them durable.
  bool durable = true;
  Locator locator;
  StoreFill fill;
};

// Verifies locator, names and active journal as opening for writing does, changes nothing. `limits`
// are for `fill`, and bound the names. Errors: kNotFound (no store, or not yet), kPermission,
// kCorrupt, kTornTail, kUnsupported (a later version), kLimit (names), kInvalid (name), kIo.
Result<StoreSnapshot> ReadStore(const StoreAccess& access, const std::string& name,
                                const StoreLimits& limits = {});

}  // namespace maco

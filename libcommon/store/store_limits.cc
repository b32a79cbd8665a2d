// What limits must satisfy so that a store can be written at all.
// Contract: libcommon/store/store_limits.h.
#include "libcommon/store/store_limits.h"

#include "libcommon/log/log_writer.h"

namespace maco {
namespace {

// In a record with one row: everything but the row, with the longest key.
constexpr std::uint64_t kAroundRow = 8192;
constexpr std::uint64_t kMostRetained = 1024;
constexpr std::uint64_t kOtherEntries = 8;  // lock, locator, active, prepared, a few temporaries

}  // namespace

Result<void> CheckLimits(const StoreLimits& limits) {
  const bool fits = limits.row_bytes <= kMaxPayloadBytes - kAroundRow &&
                    limits.release_bytes <= limits.row_bytes &&
                    limits.journal_bytes <= kMaxLogBytes && limits.retained <= kMostRetained &&
                    limits.directory_entries >= limits.retained + kOtherEntries;
  if (!fits) {
    return Fail(Code::kInvalid, "the limits of a store contradict each other");
  }
  return {};
}

}  // namespace maco

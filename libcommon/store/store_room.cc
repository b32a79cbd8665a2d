// Sums over the rows of a table.
// Contract: libcommon/store/store_room.h.
#include "libcommon/store/store_room.h"

#include "libcommon/log/log_writer.h"
#include "libcommon/store/store_journal.h"
#include "libcommon/store/store_record.h"

namespace maco {

std::uint64_t DeleteRoom(const TableSize& size) {
  return size.key_bytes + size.rows * (kFrameHeaderBytes + DeltaOverhead());
}

std::uint64_t ReplaceRoom(const TableSize& size, std::uint64_t release_bytes) {
  const std::uint64_t around = kFrameHeaderBytes + DeltaOverhead() + 1;  // a colon
  return size.key_bytes + size.rows * (around + release_bytes);
}

TableNeed NeedOf(const TableSize& size, const StoreLimits& limits) {
  const BaseBound base = BoundBase(size);
  return {base.bytes + DeleteRoom(size) + ReplaceRoom(size, limits.release_bytes),
          base.records + 2 * size.rows};
}

}  // namespace maco

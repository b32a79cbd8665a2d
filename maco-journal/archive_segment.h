// Archive segments: closed journals of a store, whole, inside one log (SNAP-02, EFF-05).
// Contract: docs/formats/archive.md.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "libcommon/auth/state_root.h"
#include "libcommon/base/result.h"
#include "libcommon/log/log_reader.h"
#include "libcommon/state/journals.h"

namespace maco::journal {

// A journal that a segment holds, or is to hold.
struct ArchivedJournal {
  std::uint64_t n = 0;
  std::string object_id;    // as in its MACs
  std::uint64_t bytes = 0;  // of the log, without the zeros behind its last record
  std::uint64_t records = 0;
  Mac mac{};  // of the last record
};

struct Segment {
  std::string store;
  std::vector<ArchivedJournal> journals;  // in order, without a gap
};

std::string SegmentName(const Segment& segment);

// Writes it, durably, from the journals in the store's directory. One that is there already, whole
// and of the same journals, is success; a part of one that a crash left is made anew. Errors:
// kCorrupt (a journal does not verify, or is not as `segment` says), kExists (another one has the
// name), kLimit, kIo.
Result<void> WriteSegment(const StateRoot& state, const Segment& segment);

// Verifies a segment and each journal in it, record by record. Errors: kCorrupt, those of opening.
Result<Segment> ReadSegment(const StateRoot& state, const Journal& journal);

}  // namespace maco::journal

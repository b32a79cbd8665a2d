// The version 3 checkpoint: a signed, bounded envelope that says where a named run's journal is and
// how far it had come (JRN-06, JRN-07). Contract: docs/formats/checkpoint.md.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "libcommon/auth/mac.h"
#include "libcommon/auth/state_root.h"
#include "libcommon/base/result.h"

namespace maco::journal {

inline constexpr std::size_t kMaxCheckpointBytes = std::size_t{64} << 10U;

struct CheckpointFile {
  std::string run;             // with steps
  std::uint64_t sequence = 0;  // of the last record of its steps journal then
  std::string mac;             // of that record, hex
  std::uint64_t time_us = 0;
};

// Replaces or creates the file, in a directory that is the caller's own with mode 0700. Errors:
// kPermission (directory, or a file there that is not 0600 with one name), kNotFound, kIo.
Result<void> WriteCheckpoint(const StateRoot& state, const CheckpointFile& checkpoint,
                             const std::string& path);

// Nothing in the file is believed before its binding to this repository and its MAC are verified.
// Errors: kUnsupported (version 1 or 2, or a later one), kCorrupt, kPermission, kNotFound, kLimit.
Result<CheckpointFile> ReadCheckpoint(const StateRoot& state, const std::string& path);

// Whether the journal still holds that record: kCorrupt if it is older than the checkpoint, or was
// changed. Errors: those of opening a journal.
Result<void> CheckAgainstJournal(const StateRoot& state, const CheckpointFile& checkpoint);

// The last record of a run's steps journal.
Result<CheckpointFile> PresentCheckpoint(const StateRoot& state, const std::string& run);

}  // namespace maco::journal

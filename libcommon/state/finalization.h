// The final record of a run: every file that it leaves, so that it can be told later that nothing
// was added, changed or exchanged. Contract: docs/formats/run.md ("run_finalized"). PRN-01.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libcommon/auth/json.h"
#include "libcommon/base/result.h"
#include "libcommon/os/directory.h"

namespace maco {

inline constexpr std::size_t kMaxFinalFiles = 4096;
inline constexpr std::size_t kMaxFinalDepth = 32;

struct FinalFile {
  std::string path;  // below the run's directory, UTF-8
  std::uint64_t bytes = 0;
  std::string sha256;       // hex
  std::string disposition;  // "publishable", "private"
};

struct Finalization {
  std::vector<FinalFile> files;     // ascending by path; all but the journal itself
  std::uint64_t journal_inode = 0;  // of the file that the writer had locked
  std::uint64_t rebinds = 0;        // of the repository (repository.md), when it was written
  std::string evidence_sha256;      // hex; empty: there is none
  bool publishable = false;
  std::string outcome;   // the event that ended it, or "abandoned"
  std::string producer;  // program and version
  std::uint64_t finalized_us = 0;

  std::uint64_t bytes() const;
};

// Reads every file below `run`, which its writer has locked; `rebinds` is that of the repository's
// identity. Anything but plain private files and directories is refused. Errors: kPermission (a
// link, a special file, another owner or mode), kLimit (files, depth, a path that is not UTF-8),
// kIo.
Result<Finalization> TakeFinalization(const Directory& run, std::uint64_t rebinds, bool publishable,
                                      const std::string& outcome);

// The event, without schema and time.
Json Encode(const Finalization& finalization);
// Errors: kCorrupt.
Result<Finalization> DecodeFinalization(const Json& event);

// Whether a journal with that inode is another file than the writer had, and the repository,
// rebound `rebinds` times by now, was rebound since: a copy of the repository has other files.
// PRN-03.
bool CopiedSince(const Finalization& finalization, std::uint64_t inode, std::uint64_t rebinds);

// Whether the directory holds exactly that; the journal may be one that was copied since. Errors:
// kCorrupt, naming the first difference; those of TakeFinalization.
Result<void> CheckFinalization(const Directory& run, std::uint64_t rebinds,
                               const Finalization& finalization);

}  // namespace maco

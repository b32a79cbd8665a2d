// VerifyStore: checks everything of a store and says what it found, for `git maco journal verify`.
// Contract: docs/formats/store.md ("Valid if and only if"). Requirement SNAP-02.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "libcommon/base/result.h"
#include "libcommon/store/locator.h"
#include "libcommon/store/store_directory.h"

namespace maco {

enum class JournalRole {
  kRetained,
  kActive,
  kPrepared,  // a rollover is going on or was cut short; the next writer removes it
  kArchived,  // is in an archive; the next writer removes it
};

struct JournalReport {
  std::uint64_t n = 0;
  JournalRole role = JournalRole::kRetained;
  bool intact = false;  // kPrepared: readable and never active; kArchived: not looked at, true
  // Only of a retained or active journal that is intact:
  std::uint64_t first_generation = 0;
  std::uint64_t last_generation = 0;
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;  // end of the last record
};

struct StoreReport {
  std::string store;
  bool created = false;  // false: no locator, or one of an unfinished creation
  Locator locator;       // if it verifies
  std::vector<JournalReport> journals;
  std::vector<Error> findings;  // what is wrong, each with its remedy; empty: all is well
  std::uint64_t generation = 0;
  std::uint64_t rows = 0;

  bool intact() const { return findings.empty(); }
};

// Takes no lock; beside a writer it starts over if the writer was in the way. What the content is
// like is in the report, never an error. Errors: kNotFound, kPermission (the directory), kInvalid
// (name), kLimit (more than `entries` names), kIo.
Result<StoreReport> VerifyStore(const StoreAccess& access, const std::string& name,
                                std::uint64_t entries = 4096);

}  // namespace maco

// Locator: which journals a store has, with the terminal anchors of the closed ones; signed.
// Contract: docs/formats/store.md ("Locator"). Requirements SNAP-01, SNAP-02.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcommon/auth/mac.h"
#include "libcommon/base/result.h"
#include "libcommon/log/log_writer.h"

namespace maco {

inline constexpr std::size_t kMaxLocatorBytes = std::size_t{1} << 20U;

// A closed journal that is kept.
struct RetainedJournal {
  std::uint64_t n = 0;
  LogId log_id{};
  std::uint64_t first_generation = 0;  // of its base
  std::uint64_t last_generation = 0;   // after its last record
  std::uint64_t sequence = 0;          // of its last record
  Mac mac{};                           // of its last record
};

// The last journal that was moved to an archive.
struct ArchivedJournals {
  std::uint64_t through = 0;
  std::uint64_t last_generation = 0;
  Mac mac{};
};

struct Locator {
  std::string store;
  std::uint32_t epoch = 0;   // of the key that signs it
  std::uint64_t active = 0;  // 0 while the store is being created
  LogId active_log_id{};     // meaningless if active is 0
  bool prepared = false;     // journal active + 1 may be in the making
  std::vector<RetainedJournal> retained;
  std::optional<ArchivedJournals> archived;

  // The generation that the base of the active journal must have.
  std::uint64_t BaseGeneration() const;
  std::uint64_t FirstKept() const { return archived ? archived->through + 1 : 1; }
};

// The file's bytes. Errors: as SignDocument.
Result<std::string> EncodeLocator(const Locator& locator, const Key& repository_key,
                                  const std::string& repository_id);

// The epoch that the text claims, before it is verified: which key to verify it with. 0 if it
// claims none, or is no document.
std::uint32_t EpochOfLocator(std::string_view text);

// Errors: kCorrupt (does not verify, another store's, breaks a rule), kUnsupported (a later
// version).
Result<Locator> DecodeLocator(std::string_view text, const std::string& store,
                              const Key& repository_key, const std::string& repository_id);

}  // namespace maco

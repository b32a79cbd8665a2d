// What an anchor says: for each journal, how many records it has and the MAC of the last (JRN-09).
// Contract: docs/formats/anchor.md.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "libcommon/auth/state_root.h"
#include "libcommon/base/result.h"

namespace maco::journal {

inline constexpr std::size_t kMaxAnchorBytes = std::size_t{64} << 20U;

struct AnchorEnd {
  std::uint64_t records = 0;
  std::string mac;  // hex
};

struct AnchorDocument {
  std::uint64_t number = 1;  // one more with each push
  std::uint64_t time_us = 0;
  std::map<std::string, AnchorEnd> journals;  // by name
};

// The present ends of all journals. Errors: kCorrupt (one does not verify), those of opening.
Result<AnchorDocument> PresentAnchor(const StateRoot& state);

// A signed head line and one line for each journal. Errors: kLimit.
Result<std::string> EncodeAnchor(const StateRoot& state, const AnchorDocument& anchor);
// Errors: kCorrupt (not ours, changed), kUnsupported (a later version).
Result<AnchorDocument> DecodeAnchor(const StateRoot& state, std::string_view text);

// What the state has lost since the anchor: one line for each journal that is gone, shorter, or
// other than the anchor says. Errors: kIo.
Result<std::vector<std::string>> LostSince(const StateRoot& state, const AnchorDocument& anchor);

}  // namespace maco::journal

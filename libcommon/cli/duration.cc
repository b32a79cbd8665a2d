// A number and a unit.
// Contract: libcommon/cli/duration.h.
#include "libcommon/cli/duration.h"

#include "libcommon/base/text.h"

namespace maco {
namespace {

constexpr std::uint64_t kMinute = 60;
constexpr std::uint64_t kHour = 60 * kMinute;
constexpr std::uint64_t kDay = 24 * kHour;
constexpr std::uint64_t kMost = 36'500 * kDay;

std::uint64_t UnitOf(char letter) {
  switch (letter) {
    case 'm':
      return kMinute;
    case 'h':
      return kHour;
    case 'd':
      return kDay;
    case 'w':
      return 7 * kDay;
    default:
      return 1;
  }
}

}  // namespace

std::optional<std::uint64_t> ParseDuration(std::string_view text) {
  const std::uint64_t unit = text.empty() ? 1 : UnitOf(text.back());
  const auto number = ParseUint(unit == 1 ? text : text.substr(0, text.size() - 1));
  return number && *number <= kMost / unit ? std::optional(*number * unit) : std::nullopt;
}

}  // namespace maco

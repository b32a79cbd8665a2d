// Times as people write them in options and settings: "90", "45m", "12h", "14d", "8w".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace maco {

// In seconds, up to a hundred years.
std::optional<std::uint64_t> ParseDuration(std::string_view text);

}  // namespace maco

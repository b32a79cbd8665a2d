// Standard output of a tool: whole texts, and failure to write them.
// Errors: kIo (closed, full disk, broken pipe).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "libcommon/base/result.h"

namespace maco {

// Writes and flushes.
Result<void> Print(std::string_view text);

// "2025-11-29T18:00:00Z" for microseconds since 1970.
std::string UtcTime(std::uint64_t micros);

// The text, and blanks up to `width` columns; one blank more if it is longer.
std::string Padded(std::string text, std::size_t width);

}  // namespace maco

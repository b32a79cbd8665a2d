// Random identifiers from the kernel (getrandom(2)).
// Errors: kIo.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "libcommon/base/result.h"

namespace maco {

Result<void> FillRandom(std::span<std::uint8_t> out);

// 128 random bits as 32 lower-case hex digits.
Result<std::string> RandomId();

// Whether `text` has the form that RandomId returns.
bool IsRandomId(std::string_view text);

}  // namespace maco

// Reads whole files with a cap on their size.
// Errors: kLimit above the cap, kIo, and those of opening.
#pragma once
#include <cstdint>
#include <string>

#include "libcommon/base/byte_codec.h"
#include "libcommon/base/result.h"

namespace maco {

// From the descriptor's current offset to the end. Works for /proc files, which have no size.
Result<std::string> ReadAll(int fd, std::size_t limit);

// From offset 0, without moving the offset; regular files only.
Result<Bytes> ReadAllAt(int fd, std::size_t limit);

// Opens by path (for /proc, /sys and names that the user gave).
Result<std::string> ReadPath(const std::string& path, std::size_t limit);

}  // namespace maco

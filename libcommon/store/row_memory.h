// ExpectRows: prepares the heap for a table that is about to be read.
// For libcommon/store only.
#pragma once
#include <cstdint>

namespace maco {

// About `bytes` will be allocated in small blocks. Where malloc is that of the GNU C library, the
// heap grows once by that much and on large pages: the first touch of each small page costs as much
// as reading several rows, and many times that in a virtual machine. Only a hint; it cannot fail.
void ExpectRows(std::uint64_t bytes);

}  // namespace maco

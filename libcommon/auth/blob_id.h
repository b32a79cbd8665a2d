// Ids of git's blobs, without git.
#pragma once

#include <cstdint>
#include <string>

#include "libcommon/base/result.h"

namespace maco {

// The id of a blob with the content of an open file, as bytes: of 20 by SHA-1, of 32 by SHA-256.
// Source: gitformat-pack(5), "object IDs". Errors: kInvalid (another length), kBusy (the
// file is not of `size` bytes), kIo.
Result<std::string> BlobIdOfFile(int fd, std::uint64_t size, std::size_t id_bytes);

}  // namespace maco

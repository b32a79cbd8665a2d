// getrandom(2), whole or not at all.
// Contract: libcommon/base/random_id.h.
#include "libcommon/base/random_id.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>

#include "libcommon/base/text.h"

namespace maco {

Result<void> FillRandom(std::span<std::uint8_t> out) {
  while (!out.empty()) {
    const ssize_t n = getrandom(out.data(), out.size(), 0);
    if (n < 0) {
      if (errno == EINTR) {
        continue;
      }
      return FailOs(errno, "read random bytes");
    }
    out = out.subspan(static_cast<std::size_t>(n));
  }
  return {};
}

Result<std::string> RandomId() {
  std::array<std::uint8_t, 16> bytes{};
  MACO_TRY(FillRandom(bytes));
  return ToHex(bytes);
}

bool IsRandomId(std::string_view text) {
  return text.size() == 32 && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace maco

// Printing through stdio, times and columns.
// Contract: libcommon/cli/output.h.
#include "libcommon/cli/output.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>

namespace maco {

Result<void> Print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    return FailOs(errno, "write to standard output");
  }
  return {};
}

std::string UtcTime(std::uint64_t micros) {
  constexpr std::uint64_t kMicrosPerSecond = 1'000'000;
  const auto seconds = static_cast<std::time_t>(micros / kMicrosPerSecond);
  std::tm broken{};
  char text[64];
  if (gmtime_r(&seconds, &broken) == nullptr ||
      strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &broken) == 0) {
    return "at an unknown time";
  }
  return text;
}

std::string Padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size() + 1), ' ');
  return text;
}

}  // namespace maco

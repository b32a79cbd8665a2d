// The log of the crash tests: its name, its key and whom it belongs to.
// For tests/crash only: the key is no secret.
#pragma once
#include <array>

#include "libcommon/log/log_format.h"

namespace maco {

inline constexpr char kCrashLog[] = "log";

inline Key CrashKey() {
  std::array<std::uint8_t, Key::kBytes> bytes{};
  bytes.fill(0x5a);
  return *Key::FromBytes(bytes);
}

inline LogIdentity CrashIdentity() { return {"00112233445566778899aabbccddeeff", "run/crash"}; }

}  // namespace maco

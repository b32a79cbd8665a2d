// Wall and monotonic time; deadlines are monotonic, records carry wall time in UTC.
// Source: clock_gettime(2).
#pragma once
#include <chrono>
#include <cstdint>

namespace maco {

using Monotonic = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

// Microseconds since 1970-01-01T00:00:00Z; not monotonic, for people and logs only.
inline std::uint64_t WallMicros() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                        std::chrono::system_clock::now().time_since_epoch())
                                        .count());
}

// Milliseconds left until `deadline`, never negative, capped for poll(2).
inline int PollMillis(Monotonic::time_point deadline) {
  const auto left = std::chrono::ceil<Milliseconds>(deadline - Monotonic::now()).count();
  constexpr std::int64_t kCap = 60 * 60 * 1000;
  return static_cast<int>(left < 0 ? 0 : left > kCap ? kCap : left);
}

}  // namespace maco

// Deadlines for poll(2): rounded up, never negative, never beyond what an int holds.
// Contract under test: libcommon/base/clock.h.
#include "libcommon/base/clock.h"

#include <gtest/gtest.h>

namespace maco {
namespace {

TEST(PollMillis, IsNeverNegativeAndHasACap) {
  const auto now = Monotonic::now();
  EXPECT_EQ(PollMillis(now - std::chrono::hours(1)), 0);
  EXPECT_EQ(PollMillis(now + std::chrono::hours(10'000)), 60 * 60 * 1000);
  EXPECT_GT(PollMillis(Monotonic::now() + std::chrono::minutes(10)), 0);
}

TEST(PollMillis, RoundsUpSoThatNobodySpins) {
  // A deadline that is not over has at least one millisecond.
  EXPECT_GE(PollMillis(Monotonic::now() + std::chrono::minutes(1) + std::chrono::nanoseconds(1)),
            1);
}

TEST(WallMicros, IsAfterThisWasWritten) {
  constexpr std::uint64_t k2023 = 1'672'531'200'000'000;
  EXPECT_GT(WallMicros(), k2023);
}

}  // namespace
}  // namespace maco

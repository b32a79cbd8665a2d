// Limits: the defaults are allowed, every bound is exact, zero never means "without".
// Contract under test: maco-run/spec/limits.h.
#include "maco-run/spec/limits.h"

#include <gtest/gtest.h>

namespace maco::run {
namespace {

struct Bound {
  const char* option;
  std::uint64_t Limits::*field;
  std::uint64_t low;
  std::uint64_t high;
};

constexpr Bound kBounds[] = {
    {"--memory", &Limits::memory_bytes, 16ULL << 20U, 1ULL << 44U},
    {"--tasks", &Limits::tasks, 8, 32768},
    {"--cpu", &Limits::cpu_percent, 1, 100000},
    {"--nofile", &Limits::open_files, 256, 1U << 20U},
    {"--fsize", &Limits::file_bytes, 1, 1ULL << 44U},
    {"--tmp", &Limits::temporary_bytes, 1U << 20U, 1ULL << 44U},
    {"--disk", &Limits::disk_bytes, 1U << 20U, 1ULL << 50U},
    {"--timeout", &Limits::timeout_seconds, 1, 604800},
    {"--output-limit", &Limits::output_bytes, 1, 1ULL << 32U},
    {"--result-limit", &Limits::result_bytes, 1, 64ULL << 20U},
    {"--scan-entries", &Limits::scan_entries, 1, 10'000'000},
};

TEST(Limits, DefaultsAreAllowed) { EXPECT_TRUE(CheckLimits({}).has_value()); }

TEST(Limits, BoundsAreExactAndNamed) {
  for (const auto& bound : kBounds) {
    Limits limits;
    for (const std::uint64_t good : {bound.low, bound.high}) {
      limits.*bound.field = good;
      EXPECT_TRUE(CheckLimits(limits).has_value()) << bound.option;
    }
    for (const std::uint64_t bad : {bound.low - 1, bound.high + 1, std::uint64_t{0}, UINT64_MAX}) {
      limits.*bound.field = bad;
      const auto checked = CheckLimits(limits);
      ASSERT_FALSE(checked.has_value()) << bound.option << " " << bad;
      EXPECT_EQ(checked.error().code, Code::kInvalid);
      EXPECT_TRUE(checked.error().message.starts_with(std::string(bound.option) + " "));
      EXPECT_NE(checked.error().message.find(std::to_string(bound.high)), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace maco::run

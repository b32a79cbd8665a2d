// Which runs a policy deletes: one table. Tests Decide of libcommon/state/retention.cc.
#include "libcommon/state/retention.h"

#include <gtest/gtest.h>

namespace maco {
namespace {

constexpr std::uint64_t kSecond = 1'000'000;
constexpr std::uint64_t kDay = 86'400 * kSecond;
// Thursday, 1970-01-29 12:00: 28 days after the first Thursday.
constexpr std::uint64_t kNow = 28 * kDay + kDay / 2;

RetainedRun At(const std::string& id, std::uint64_t age, std::uint64_t bytes = 100,
               const std::string& outcome = "command_completed", const std::string& held = "") {
  RetainedRun run;
  run.id = id;
  run.time_us = kNow - age;
  run.bytes = bytes;
  run.outcome = outcome;
  run.held_back = held;
  return run;
}

// The oldest first, as ListRetained returns them.
std::vector<RetainedRun> Some() {
  return {At("g", 21 * kDay),                      // Thursday, three weeks ago
          At("f", 10 * kDay, 200, "run_refused"),  // Monday, the week before
          At("e", 4 * kDay, 100, "abandoned"),     // Sunday, the week before
          At("d", 3 * kDay),                       // Monday
          At("c", kDay, 100, "command_unproven"),  // Wednesday
          At("b", kDay / 4),                       // today
          At("a", kSecond, 100)};                  // today
}

std::string Deleted(const RetentionPolicy& policy, std::vector<RetainedRun> runs,
                    std::uint64_t now = kNow) {
  Decide(policy, now, runs);
  std::string out;
  for (const auto& run : runs) {
    EXPECT_FALSE(run.reason.empty()) << run.id;
    EXPECT_FALSE(run.deleted && !run.held_back.empty()) << run.id;
    out += run.deleted ? run.id : "";
  }
  return out;
}

RetentionPolicy Keep(std::uint64_t count) {
  RetentionPolicy out;
  out.keep = count;
  return out;
}

TEST(DecideTest, EachRule) {
  EXPECT_EQ(Deleted({}, Some()), "");
  EXPECT_EQ(Deleted(Keep(0), Some()), "gfedcba");
  EXPECT_EQ(Deleted(Keep(2), Some()), "gfedc");
  EXPECT_EQ(Deleted(Keep(7), Some()), "");
  RetentionPolicy policy;
  policy.keep_daily = 3;
  EXPECT_EQ(Deleted(policy, Some()), "gfeb");
  policy.keep_daily = 0;
  EXPECT_EQ(Deleted(policy, Some()), "gfedcba");
  policy = {};
  policy.keep_weekly = 2;
  EXPECT_EQ(Deleted(policy, Some()), "gfdcb");
  policy.keep_weekly = 3;
  EXPECT_EQ(Deleted(policy, Some()), "fdcb") << "weeks without a run do not count";
  policy.keep = 2;
  policy.keep_daily = 3;
  EXPECT_EQ(Deleted(policy, Some()), "f") << "rules that keep add up";
}

TEST(DecideTest, AgeHasABoundary) {
  RetentionPolicy policy;
  policy.max_age_seconds = 4 * 86'400;
  EXPECT_EQ(Deleted(policy, Some()), "gf");
  policy.max_age_seconds = 4 * 86'400 - 1;
  EXPECT_EQ(Deleted(policy, Some()), "gfe");
  policy.max_age_seconds = 0;
  EXPECT_EQ(Deleted(policy, Some()), "gfedcba");
  EXPECT_EQ(Deleted(policy, Some(), 1), "") << "what ends in the future has no age";
  policy.keep = 6;
  EXPECT_EQ(Deleted(policy, Some()), "g");
}

TEST(DecideTest, BytesAreThoseOfAll) {
  RetentionPolicy policy;
  policy.max_bytes = 800;
  EXPECT_EQ(Deleted(policy, Some()), "");
  policy.max_bytes = 799;
  EXPECT_EQ(Deleted(policy, Some()), "g");
  policy.max_bytes = 699;
  EXPECT_EQ(Deleted(policy, Some()), "gf");
  policy.max_bytes = 0;
  EXPECT_EQ(Deleted(policy, Some()), "gfedcba");
  policy.keep = 2;
  EXPECT_EQ(Deleted(policy, Some()), "gfedc") << "what a rule keeps may be too large";

  auto runs = Some();
  runs[0].held_back = "it is going on";
  policy = {};
  policy.max_bytes = 799;
  EXPECT_EQ(Deleted(policy, runs), "f") << "what may not go counts";
  policy.max_bytes = 299;
  policy.max_age_seconds = 9 * 86'400;
  EXPECT_EQ(Deleted(policy, Some()), "gfedc") << "each of two rules deletes";
}

TEST(DecideTest, OnlyTheOutcomesThatAreMeant) {
  RetentionPolicy policy = Keep(0);
  policy.outcomes = {"run_refused", "abandoned"};
  EXPECT_EQ(Deleted(policy, Some()), "fe");
  policy = Keep(1);
  policy.outcomes = {"run_refused", "abandoned"};
  EXPECT_EQ(Deleted(policy, Some()), "f") << "the newest of those";
  policy = {};
  policy.outcomes = {"run_refused", "abandoned"};
  EXPECT_EQ(Deleted(policy, Some()), "") << "outcomes alone are no rule";
  policy.max_bytes = 300;
  EXPECT_EQ(Deleted(policy, Some()), "") << "others are not counted";
  policy.max_bytes = 299;
  EXPECT_EQ(Deleted(policy, Some()), "f");
}

TEST(DecideTest, WhatIsHeldBackStaysAndTakesNoPlace) {
  auto runs = Some();
  runs.back().held_back = "uncertain";
  EXPECT_EQ(Deleted(Keep(1), runs), "gfedc");
  Decide(Keep(0), kNow, runs);
  EXPECT_EQ(runs.back().reason, "uncertain");
  Decide({}, kNow, runs);
  EXPECT_EQ(runs.front().reason, "there is no policy");
}

TEST(DecideTest, NoRunsAndSameTimes) {
  EXPECT_EQ(Deleted(Keep(0), {}), "");
  EXPECT_EQ(Deleted(Keep(1), {At("a", 5), At("b", 5), At("c", 5)}), "ab");
}

}  // namespace
}  // namespace maco

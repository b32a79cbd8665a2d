// What becomes of a step, and whether its binding holds, for each state of its run.
// Contract under test: docs/formats/step.md ("What follows"). JRN-04, JRN-05.
#include "libcommon/state/steps.h"

#include <gtest/gtest.h>

namespace maco {
namespace {

StepSight Sight(const std::string& event, std::uint64_t status = 0) {
  StepSight sight;
  sight.attempt.step = "build";
  sight.run.last_event = event;
  if (event == "command_completed") {
    sight.run.exit_status = status;
    sight.run.publishable = true;
  }
  return sight;
}

Json StateNumber(int n) {
  return {{"head", std::to_string(n)}, {"index_sha256", ""}, {"roots", Json::array()}};
}

StepSight Done(const std::string& step, int before, int after) {
  StepSight sight = Sight("command_completed");
  sight.attempt.step = step;
  sight.attempt.before = StateNumber(before);
  sight.run.worktree = StateNumber(after);
  return sight;
}

TEST(StepState, FollowsFromTheLastEvent) {
  EXPECT_EQ(StateOf(Sight("")), StepState::kNotDone);
  EXPECT_EQ(StateOf(Sight("run_planned")), StepState::kNotDone);
  EXPECT_EQ(StateOf(Sight("run_refused")), StepState::kNotDone);
  EXPECT_EQ(StateOf(Sight("command_completed")), StepState::kDone);
  EXPECT_EQ(StateOf(Sight("command_completed", 2)), StepState::kFailed);
  EXPECT_EQ(StateOf(Sight("command_started")), StepState::kUncertain);
  EXPECT_EQ(StateOf(Sight("command_unproven")), StepState::kUncertain);
  EXPECT_EQ(StateOf(Sight("something_new")), StepState::kUncertain);
}

TEST(StepState, ACompletedEventWithoutAStatusIsNoSuccess) {
  StepSight sight = Sight("command_completed");
  sight.run.exit_status.reset();
  EXPECT_EQ(StateOf(sight), StepState::kFailed);
}

TEST(StepState, WhatIsNotPublishableIsNotDone) {
  StepSight sight = Sight("command_completed");
  sight.run.publishable = false;
  EXPECT_EQ(StateOf(sight), StepState::kFailed);
}

TEST(StepState, EvidenceDamageAndLocksCount) {
  StepSight sight = Sight("command_completed");
  sight.run.evidence_failure = "it was changed";
  EXPECT_EQ(StateOf(sight), StepState::kUncertain);
  sight = Sight("command_completed");
  sight.run.held = true;
  EXPECT_EQ(StateOf(sight), StepState::kRunning);
  sight.run.error = MakeError(Code::kCorrupt, "damaged");
  EXPECT_EQ(StateOf(sight), StepState::kDamaged);
}

TEST(StepState, AnOperatorsWordCounts) {
  StepSight sight = Sight("run_resolved");
  sight.run.resolution = "happened";
  EXPECT_EQ(StateOf(sight), StepState::kDone);
  sight.run.resolution = "did-not-happen";
  EXPECT_EQ(StateOf(sight), StepState::kNotDone);
  sight.run.resolution = "perhaps";
  EXPECT_EQ(StateOf(sight), StepState::kNotDone) << "only one word means that it happened";
}

TEST(StepBinding, HoldsForTheStateThatWasLeft) {
  const std::vector<StepSight> steps = {Done("build", 1, 2)};
  EXPECT_EQ(BindingDifference(steps, 0, StateNumber(2)), "");
  EXPECT_NE(BindingDifference(steps, 0, StateNumber(1)), "");
}

TEST(StepBinding, HoldsAlongAnUnbrokenChain) {
  std::vector<StepSight> steps = {Done("build", 1, 2), Done("test", 2, 3), Done("pack", 3, 4)};
  EXPECT_EQ(BindingDifference(steps, 0, StateNumber(4)), "");
  EXPECT_EQ(BindingDifference(steps, 0, StateNumber(3)), "");
  EXPECT_EQ(BindingDifference(steps, 1, StateNumber(4)), "");
  EXPECT_NE(BindingDifference(steps, 2, StateNumber(3)), "");
  // Something else happened between the steps.
  steps[1].attempt.before = StateNumber(9);
  EXPECT_NE(BindingDifference(steps, 0, StateNumber(3)), "");
  EXPECT_NE(BindingDifference(steps, 0, StateNumber(4)), "");
}

TEST(StepBinding, AnAttemptWithoutAStateBreaksTheChain) {
  std::vector<StepSight> steps = {Done("build", 1, 2), Sight("command_started")};
  steps[1].attempt.before = StateNumber(2);
  EXPECT_EQ(BindingDifference(steps, 0, StateNumber(2)), "");
  EXPECT_NE(BindingDifference(steps, 0, StateNumber(3)), "");
}

TEST(StepBinding, WithoutAStateOnRecordNothingHolds) {
  StepSight sight = Sight("command_completed");
  EXPECT_NE(BindingDifference({sight}, 0, StateNumber(1)), "");
  EXPECT_NE(BindingDifference({sight}, 0, Json(nullptr)), "") << "null is no state";
}

TEST(StepRecord, IsReadBack) {
  StepAttempt attempt;
  attempt.step = "a.b";
  attempt.run = "00112233445566778899aabbccddeeff";
  attempt.command_sha256 = "c0";
  attempt.validation = true;
  attempt.place = {"/r\xff/.git", "/r\xff", {"/r\xff", "/b\n"}, "/r\xff/out"};
  attempt.before = StateNumber(7);
  attempt.time_us = 5;
  const auto back = DecodeAttempt(EncodeAttempt(attempt));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(EncodeAttempt(*back), EncodeAttempt(attempt));
  EXPECT_EQ(back->place.roots[1], "/b\n");
}

TEST(StepRecord, MalformedOnesAreRefused) {
  StepAttempt attempt;
  attempt.step = "x";
  const Json good = EncodeAttempt(attempt);
  ASSERT_TRUE(DecodeAttempt(good));
  for (const char* name : {"event", "step", "place", "before"}) {
    Json bad = good;
    bad.erase(name);
    EXPECT_EQ(DecodeAttempt(bad).error().code, Code::kCorrupt) << name;
  }
  Json bad = good;
  bad["step"] = "../x";
  EXPECT_FALSE(DecodeAttempt(bad));
  bad = good;
  bad["place"]["roots_hex"] = {"zz"};
  EXPECT_FALSE(DecodeAttempt(bad));
  bad["place"] = 3;
  EXPECT_FALSE(DecodeAttempt(bad));
}

}  // namespace
}  // namespace maco

// The log of effects: steps, evidence, choice by id, archives, and a log that is full.
// Contract under test: libcommon/effect/effect_log.h. Requirements EFF-01, EFF-05, EFF-07.
#include "libcommon/effect/effect_log.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/unit/effect/effect_fixture.h"
#include "tests/unit/scratch_dir.h"

namespace maco {
namespace {

class EffectLogTest : public ::testing::Test {
 protected:
  EffectLogTest() : state_(*StateRoot::Initialize(scratch_.dir())) {}

  Result<void> Put(std::vector<EffectStep> steps) {
    return ChangeEffects(state_, Durability::kRecord, [&](const EffectTable&) { return steps; });
  }
  Result<void> Put(const Effect& effect) { return Put({{effect, std::nullopt, false}}); }
  std::optional<Effect> Find(const std::string& id) { return *ReadEffects(state_)->Find(id); }

  ScratchDir scratch_;
  StateRoot state_;
};

Effect OfALane(std::size_t number, std::size_t runs) {
  Effect effect = PlannedEffect(number);
  effect.candidate = std::string(32, 'f');
  effect.evidence.assign(runs, std::string(64, '9'));
  return effect;
}

TEST_F(EffectLogTest, AnEffectKeepsItsEvidenceThroughAllItsSteps) {
  Effect effect = OfALane(1, 500);
  Effect started = effect;
  started.state = "started";
  ASSERT_TRUE(Put({{effect, std::nullopt, false}, {started, Json{{"v", 1}}, false}}));
  EXPECT_EQ(Find(effect.id), started);
  EXPECT_NE(ReadEffects(state_)->RequestOf(effect.id), nullptr);
  const Effect ended = Completed(effect, "done");
  ASSERT_TRUE(Put({{ended, std::nullopt, true}}));
  EXPECT_EQ(Find(effect.id), ended);
  EXPECT_EQ(ReadEffects(state_)->RequestOf(effect.id), nullptr);
  EXPECT_EQ(ReadEffects(state_)->WithSubject(effect.subject), ended);
  EXPECT_EQ(*ReadEffects(state_)->Choose(effect.id.substr(0, 8)), ended);

  ASSERT_TRUE(MoveToArchive(state_, {ended}, "000001", {{"v", 1}}));
  EXPECT_EQ(Find(effect.id), std::nullopt);
  const auto store = ReadStore(StoreAccess::Of(state_), kEffectStore, EffectStoreLimits());
  ASSERT_TRUE(store);
  EXPECT_EQ(store->table.rows().size(), 1U) << "but the archive's row, nothing is left of it";
}

TEST_F(EffectLogTest, WhatChangedMeanwhileIsNotArchived) {
  const Effect effect = Completed(PlannedEffect(1), "done");
  ASSERT_TRUE(Put(effect));
  Effect other = effect;
  other.reason = "seen later";
  EXPECT_EQ(MoveToArchive(state_, {other}, "000001", {{"v", 1}}).error().code, Code::kNotFound);
  EXPECT_EQ(Find(effect.id), effect);
}

TEST_F(EffectLogTest, AnArchivesRowIsNotReplaced) {
  const Effect first = Completed(PlannedEffect(1), "done");
  const Effect second = Completed(PlannedEffect(2), "done");
  ASSERT_TRUE(Put(first));
  ASSERT_TRUE(Put(second));
  ASSERT_TRUE(MoveToArchive(state_, {first}, "000001", {{"v", 1}, {"effects", 1}}));
  const auto before = ReadEffects(state_)->Archives();
  const auto again = MoveToArchive(state_, {second}, "000001", {{"v", 1}, {"effects", 2}});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Code::kExists);
  EXPECT_TRUE(ReadEffects(state_)->Archives() == before);
  EXPECT_EQ(Find(second.id), second);
}

TEST_F(EffectLogTest, AnIdIsChosenByItsBeginning) {
  ASSERT_TRUE(Put({{PlannedEffect(11), std::nullopt, false}}));
  ASSERT_TRUE(Put({{PlannedEffect(12), std::nullopt, false}}));
  const auto table = *ReadEffects(state_);
  EXPECT_EQ(table.Choose(EffectId(12))->id, EffectId(12));
  EXPECT_EQ(table.Choose("eeee").error().code, Code::kInvalid);
  EXPECT_EQ(table.Choose("eee").error().code, Code::kInvalid);
  EXPECT_EQ(table.Choose("EEEE").error().code, Code::kInvalid);
  EXPECT_EQ(table.Choose("0000").error().code, Code::kNotFound);
}

// EFF-05: a log that takes no new effect finishes every one that it has, however much is to be
// said of it.
TEST_F(EffectLogTest, AFullLogFinishesWhatItBegan) {
  constexpr std::size_t kAtOnce = 35;
  std::size_t number = 0;
  std::vector<Effect> begun;
  for (std::size_t at_once = kAtOnce; at_once > 0;) {
    std::vector<EffectStep> steps;
    for (std::size_t i = 0; i < at_once; ++i) {
      Effect effect = OfALane(number + i, 3);
      effect.state = "started";
      effect.target = std::string(200, 't');
      effect.action = std::string(250, 'a');
      steps.push_back({effect, Json{{"v", 1}, {"body", std::string(100'000, 'b')}}, false});
    }
    if (const auto put = Put(steps); !put) {
      ASSERT_EQ(put.error().code, Code::kLimit) << put.error().message;
      at_once /= 5;
      continue;
    }
    number += at_once;
    for (const auto& step : steps) {
      begun.push_back(step.effect);
    }
  }
  ASSERT_GT(begun.size(), 2 * kAtOnce);
  std::vector<EffectStep> steps;
  for (const auto& effect : begun) {
    Effect ended = Completed(effect, std::string(2500, '"'));
    steps.push_back({ended, std::nullopt, true});
    if (steps.size() == kAtOnce || &effect == &begun.back()) {
      const auto put = Put(std::exchange(steps, {}));
      ASSERT_TRUE(put) << put.error().message;
    }
  }
  const auto table = *ReadEffects(state_);
  for (const auto& effect : begun) {
    ASSERT_EQ((*table.Find(effect.id))->state, "completed");
    ASSERT_EQ((*table.Find(effect.id))->evidence, effect.evidence);
  }
}

}  // namespace
}  // namespace maco

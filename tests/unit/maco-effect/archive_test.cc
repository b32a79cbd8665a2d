// Archives: one archives at a time, none is overwritten, and receipts in them are found by name.
// Contract under test: maco-effect/archive_segment.h, maco-effect/choice.h. Requirement EFF-05.
#include "maco-effect/archive_segment.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "maco-effect/choice.h"
#include "tests/unit/effect/effect_fixture.h"
#include "tests/unit/scratch_dir.h"

namespace maco::effect {
namespace {

class ArchiveTest : public ::testing::Test {
 protected:
  ArchiveTest() : state_(*StateRoot::Initialize(scratch_.dir())) {}

  void Finish(std::size_t number) {
    const Effect effect = Completed(PlannedEffect(number), "done");
    ASSERT_TRUE(ChangeEffects(state_, Durability::kRecord, [&](const EffectTable&) {
      return std::vector<EffectStep>{{effect, std::nullopt, false}};
    }));
  }
  // Everything that is on record.
  Result<Archived> MoveAll() {
    return ArchiveEffects(state_, [](const EffectTable& table) {
      std::vector<Error> damaged;
      return table.All(damaged);
    });
  }
  std::size_t EffectsIn(const std::string& number) {
    const auto archives = ReadEffects(state_)->Archives();
    const auto effects = ReadArchive(state_, number, archives.at(number));
    EXPECT_TRUE(effects) << number;
    return effects ? effects->size() : 0;
  }

  ScratchDir scratch_;
  StateRoot state_;
};

TEST_F(ArchiveTest, TheRowsAreLookedAtUnderTheLock) {
  Finish(1);
  const auto moved = ArchiveEffects(state_, [&](const EffectTable& table) {
    EXPECT_FALSE(LockEffect(state_, "archive", LogLock::kTry));
    std::vector<Error> damaged;
    return table.All(damaged);
  });
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->number, "000001");
  EXPECT_TRUE(LockEffect(state_, "archive", LogLock::kTry));
}

TEST_F(ArchiveTest, TheNextOneLeavesTheOthersAsTheyAre) {
  Finish(1);
  ASSERT_EQ(MoveAll()->number, "000001");
  EXPECT_EQ(MoveAll()->number, "") << "nothing is left to move";
  EXPECT_EQ(EffectsIn("000001"), 1U);
  Finish(2);
  Finish(3);
  ASSERT_EQ(MoveAll()->number, "000002");
  EXPECT_EQ(EffectsIn("000001"), 1U);
  EXPECT_EQ(EffectsIn("000002"), 2U);
}

TEST_F(ArchiveTest, AFileThatNoRowNamesIsMadeAnew) {
  Finish(1);
  const auto directory = OpenEffectDirectory(state_);
  ASSERT_TRUE(directory);
  ASSERT_TRUE(directory->OpenFile("archive-000001.log", O_WRONLY | O_CREAT, 0600));
  ASSERT_EQ(MoveAll()->number, "000001");
  EXPECT_EQ(EffectsIn("000001"), 1U);
}

TEST_F(ArchiveTest, AnArchivedReceiptIsChosenByItsBeginning) {
  Finish(11);
  Finish(12);
  ASSERT_TRUE(MoveAll());
  const auto table = *ReadEffects(state_);
  const auto choose = [&](const std::string& text, Where where) {
    return ChooseEffect(state_, table, text, where);
  };
  EXPECT_EQ(choose(EffectId(11), Where::kArchivesToo)->id, EffectId(11));
  EXPECT_EQ(choose("eeee", Where::kArchivesToo).error().code, Code::kInvalid) << "several";
  EXPECT_EQ(choose("eee", Where::kArchivesToo).error().code, Code::kInvalid) << "too short";
  EXPECT_EQ(choose("0000", Where::kArchivesToo).error().code, Code::kNotFound);
  EXPECT_EQ(choose(EffectId(11), Where::kLog).error().code, Code::kNotFound);
  Effect other = Completed(PlannedEffect(1), "done");
  other.id = "0123" + other.id.substr(4);
  ASSERT_TRUE(ChangeEffects(state_, Durability::kRecord, [&](const EffectTable&) {
    return std::vector<EffectStep>{{other, std::nullopt, false}};
  }));
  ASSERT_TRUE(MoveAll());
  EXPECT_EQ(ChooseEffect(state_, *ReadEffects(state_), "0123", Where::kArchivesToo)->id, other.id);
}

TEST_F(ArchiveTest, ARowThatDoesNotDecodeIsToldWhenAllAreMeant) {
  Finish(1);
  StoreOptions options;
  options.limits = EffectStoreLimits();
  auto store = Store::Open(StoreAccess::Of(state_), kEffectStore, options);
  ASSERT_TRUE(store);
  StoreChange change;
  change.put[EffectKey(EffectId(2))] = Json{{"v", 1U}};
  ASSERT_TRUE(store->Commit(change, Durability::kRecord));
  ASSERT_TRUE(store->Close());
  const auto table = *ReadEffects(state_);
  const auto all = ChooseEffects(state_, table, {{}, {"completed"}, Where::kLog});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->effects.size(), 1U);
  EXPECT_EQ(all->damaged.size(), 1U);
  const auto named = ChooseEffects(state_, table, {{EffectId(1)}, {"completed"}, Where::kLog});
  ASSERT_TRUE(named);
  EXPECT_TRUE(named->damaged.empty());
}

}  // namespace
}  // namespace maco::effect

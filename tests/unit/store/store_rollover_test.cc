// Rollover by bytes, by count, by request; retained journals, their quota, and dropping them.
// Contract under test: docs/formats/store.md ("Rollover"). SNAP-01, SNAP-03.
#include <gtest/gtest.h>

#include "tests/unit/store/store_fixture.h"

namespace maco {
namespace {

using StoreRolloverTest = StoreFixture;

TEST_F(StoreRolloverTest, TheTableAndItsGenerationSurviveOne) {
  Store store = Create();
  ASSERT_TRUE(store.Commit(Put("a", TestRow(1, 5000)), Durability::kRecord));
  ASSERT_TRUE(store.Commit(Put("b", TestRow(2)), Durability::kRecord));
  ASSERT_TRUE(store.Rollover());
  EXPECT_EQ(store.generation(), 2U);
  EXPECT_EQ(store.Commit(Erase({"b"}), Durability::kRecord), 3U);
  ASSERT_TRUE(store.Rollover());
  ASSERT_TRUE(store.Rollover()) << "with no commit in between";
  ASSERT_TRUE(store.Close());
  const auto snapshot = Read();
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(snapshot->generation, 3U);
  EXPECT_EQ(snapshot->table.Find("a")->at("number"), 1);
  EXPECT_EQ(snapshot->table.size().rows, 1U);
  EXPECT_EQ(snapshot->locator.active, 4U);
  ASSERT_EQ(snapshot->locator.retained.size(), 3U);
  EXPECT_EQ(snapshot->locator.retained[0].last_generation, 2U);
  EXPECT_EQ(snapshot->locator.retained[0].sequence, 3U) << "an end of the base and two deltas";
  EXPECT_EQ(snapshot->locator.retained[2].first_generation, 3U);
  EXPECT_EQ(snapshot->locator.retained[2].last_generation, 3U);
  EXPECT_EQ(Findings(), "");
  const StoreReport report = Verify();
  ASSERT_EQ(report.journals.size(), 4U);
  EXPECT_EQ(report.journals[3].role, JournalRole::kActive);
  EXPECT_EQ(report.journals[1].last_generation, 3U);
  EXPECT_EQ(report.generation, 3U);
  EXPECT_EQ(report.rows, 1U);
}

TEST_F(StoreRolloverTest, HappensWhenBytesRunOut) {
  Store store = Create();
  std::uint64_t commits = 0;
  while (store.locator().active < 4) {
    ASSERT_TRUE(store.Commit(Put("a", TestRow(1, 7000)), Durability::kRecord));
    ASSERT_LE(store.Fill().active_bytes, limits_.journal_bytes);
    ASSERT_LT(++commits, 200U);
  }
  EXPECT_GT(commits, 3U * 30U) << "journals were filled before";
  ASSERT_TRUE(store.Close());
  EXPECT_EQ(Read()->generation, commits);
  EXPECT_EQ(Findings(), "");
}

TEST_F(StoreRolloverTest, HappensWhenRecordsRunOut) {
  limits_.journal_records = 10;
  Store store = Create();
  for (std::uint64_t i = 1; i <= 40; ++i) {
    ASSERT_EQ(store.Commit(Put("a", TestRow(1)), Durability::kRecord), i);
    ASSERT_LE(store.Fill().active_records, limits_.journal_records);
  }
  EXPECT_GE(store.locator().active, 5U);
  ASSERT_TRUE(store.Close());
  EXPECT_EQ(Findings(), "");
}

TEST_F(StoreRolloverTest, AGroupIsNotTornByOne) {
  limits_.journal_records = 12;
  Store store = Create();
  const StoreChange group[] = {Put("a", TestRow(1)), Put("a", TestRow(2)), Put("a", TestRow(3)),
                               Put("a", TestRow(4))};
  for (std::uint64_t i = 1; i <= 10; ++i) {
    ASSERT_EQ(store.CommitGroup(group, Durability::kRecord), 4 * i);
  }
  ASSERT_TRUE(store.Close());
  for (const JournalReport& journal : Verify().journals) {
    EXPECT_EQ(journal.last_generation % 4, 0U);
  }
  EXPECT_EQ(Findings(), "");
}

TEST_F(StoreRolloverTest, FiftyInARow) {
  limits_.retained = 60;
  limits_.directory_entries = 80;
  {
    Store store = Create();
    for (int i = 1; i <= 50; ++i) {
      ASSERT_TRUE(store.Commit(Put("k" + std::to_string(i % 7), TestRow(i)), Durability::kRecord));
      ASSERT_TRUE(store.Rollover());
    }
  }
  const StoreReport report = Verify();
  EXPECT_TRUE(report.intact());
  EXPECT_EQ(report.journals.size(), 51U);
  EXPECT_EQ(report.generation, 50U);
  EXPECT_EQ(report.rows, 7U);
  auto store = Open();
  ASSERT_TRUE(store);
  EXPECT_EQ(store->table().Find("k1")->at("number"), 50);
  EXPECT_EQ(store->Commit(Erase({"k1"}), Durability::kRecord), 51U);
}

TEST_F(StoreRolloverTest, ABaseOfManyRecordsIsReadBack) {
  limits_ = StoreLimits{};
  Store store = Create();
  for (int group = 0; group < 4; ++group) {
    StoreChange change;
    for (int i = 0; i < 15; ++i) {
      change.put["k" + std::to_string(15 * group + i)] = TestRow(i, 60'000);
    }
    ASSERT_TRUE(store.Commit(change, Durability::kRecord));
  }
  ASSERT_TRUE(store.Rollover());
  EXPECT_GT(store.Fill().active_records, 3U) << "more than 3 MiB, so several base records";
  ASSERT_TRUE(store.Close());
  EXPECT_EQ(Read()->table.size().rows, 60U);
  EXPECT_EQ(Findings(), "");
}

TEST_F(StoreRolloverTest, TheQuotaOfRetainedJournalsIsCheckedBeforeAnythingIsMade) {
  limits_.retained = 3;
  Store store = Create();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(store.Rollover());
  }
  const auto names = Names();
  const std::string locator = Load("locator");
  const auto refused = store.Rollover();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kLimit);
  EXPECT_NE(refused.error().remedy.find("git maco journal archive"), std::string::npos);
  EXPECT_EQ(Names(), names) << "SNAP-03: no residue";
  EXPECT_EQ(Load("locator"), locator);
  EXPECT_TRUE(store.Commit(Put("a", TestRow(1)), Durability::kRecord));
}

TEST_F(StoreRolloverTest, DroppingGivesRoomAndIsRemembered) {
  limits_.retained = 3;
  Store store = Create();
  for (int i = 1; i <= 3; ++i) {
    ASSERT_TRUE(store.Commit(Put("a", TestRow(i)), Durability::kRecord));
    ASSERT_TRUE(store.Rollover());
  }
  const Mac second = store.locator().retained[1].mac;
  EXPECT_EQ(store.DropRetained(0, second).error().code, Code::kInvalid);
  EXPECT_EQ(store.DropRetained(4, second).error().code, Code::kInvalid) << "the active one";
  EXPECT_EQ(store.DropRetained(1, second).error().code, Code::kInvalid) << "another's MAC";
  EXPECT_EQ(store.locator().retained.size(), 3U);
  ASSERT_TRUE(store.DropRetained(2, second));
  EXPECT_EQ(Names(), (std::set<std::string>{"lock", "locator", "000003.log", "000004.log"}));
  EXPECT_EQ(store.DropRetained(2, second).error().code, Code::kInvalid) << "once only";
  ASSERT_TRUE(store.Rollover());
  ASSERT_TRUE(store.DropRetained(4, store.locator().retained[1].mac)) << "all of them";
  ASSERT_TRUE(store.Commit(Put("a", TestRow(9)), Durability::kRecord));
  ASSERT_TRUE(store.Close());
  EXPECT_EQ(Findings(), "");
  const auto again = Open();
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->generation(), 4U);
  ASSERT_TRUE(again->locator().archived);
  EXPECT_EQ(again->locator().archived->through, 4U);
  EXPECT_EQ(again->locator().archived->last_generation, 3U);
}

}  // namespace
}  // namespace maco

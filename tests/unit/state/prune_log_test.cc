// What the prune log says of each run. Tests libcommon/state/prune_log.cc.
#include "libcommon/state/prune_log.h"

#include "tests/unit/state/run_fixture.h"

namespace maco {
namespace {

class PruneLogTest : public RunFixture {
 protected:
  std::string Begin(std::uint64_t inode) {
    PrunedRun run{NewId(), inode, "aa", 4, 1000, 7, "old", 0, false};
    EXPECT_TRUE(RecordPruneBegun(state(), {run}));
    return run.run;
  }
  std::map<std::string, PrunedRun> Read() const {
    auto read = ReadPruneLog(state());
    EXPECT_TRUE(read) << read.error().message;
    return read ? *read : std::map<std::string, PrunedRun>();
  }
  std::string LogPath() const {
    return scratch_.Path("maco/prune/" + std::to_string(state().epoch()) + ".log");
  }
};

TEST_F(PruneLogTest, NoneIsEmpty) { EXPECT_TRUE(Read().empty()); }

TEST_F(PruneLogTest, BegunEndedRestoredAndAgain) {
  const std::string a = Begin(5);
  const std::string b = Begin(6);
  const std::string c = Begin(7);
  auto read = Read();
  ASSERT_EQ(read.size(), 3U);
  EXPECT_FALSE(read[a].done);
  EXPECT_EQ(read[a].inode, 5U);
  EXPECT_EQ(read[a].last_mac, "aa");
  EXPECT_EQ(read[a].records, 4U);
  EXPECT_EQ(read[a].bytes, 1000U);
  EXPECT_EQ(read[a].files, 7U);
  EXPECT_EQ(read[a].reason, "old");
  EXPECT_NE(read[a].begun_us, 0U);
  ASSERT_TRUE(RecordPruneEnded(state(), {a}, "deleted"));
  ASSERT_TRUE(RecordPruneEnded(state(), {b}, "discarded"));
  ASSERT_TRUE(RecordPruneEnded(state(), {c}, "restored"));
  read = Read();
  EXPECT_TRUE(read[a].done);
  EXPECT_TRUE(read[b].done);
  EXPECT_FALSE(Read().contains(c)) << "it is there again";
  ASSERT_TRUE(RecordPruneBegun(state(), {{c, 8, "bb", 5, 0, 0, "", 0, false}}));
  EXPECT_EQ(Read()[c].inode, 8U);
  ASSERT_TRUE(RecordPruneEnded(state(), {NewId()}, "deleted"));
  EXPECT_EQ(Read().size(), 3U) << "an end without a beginning says nothing";
}

TEST_F(PruneLogTest, AGroupIsOneBatch) {
  std::vector<PrunedRun> runs(64);
  for (auto& run : runs) {
    run.run = NewId();
  }
  ASSERT_TRUE(RecordPruneBegun(state(), runs));
  EXPECT_EQ(Read().size(), runs.size());
}

TEST_F(PruneLogTest, DamageIsAnError) {
  Begin(5);
  auto read_bytes = ReadPath(LogPath(), 1U << 24U);
  ASSERT_TRUE(read_bytes) << read_bytes.error().message;
  std::string bytes = *std::move(read_bytes);
  bytes[bytes.find("prune_begun")] ^= 1;
  WriteFile(LogPath(), bytes);
  const auto read = ReadPruneLog(state());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::kCorrupt);
  EXPECT_FALSE(RecordPruneBegun(state(), {{NewId(), 1, "", 1, 0, 0, "", 0, false}}));
}

TEST_F(PruneLogTest, WhoeverMayReadItButTheOwnerMakesItUnfit) {
  Begin(5);
  ASSERT_EQ(chmod(LogPath().c_str(), 0644), 0);
  EXPECT_FALSE(ReadPruneLog(state()));
}

}  // namespace
}  // namespace maco

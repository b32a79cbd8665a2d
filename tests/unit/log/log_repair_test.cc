// Repair: what it cuts, what it rewrites, what it must leave alone.
// Contract under test: libcommon/log/log_repair.h.
#include "libcommon/log/log_repair.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/log/log_fixture.h"

namespace maco {
namespace {

class LogRepairTest : public LogFixture {
 protected:
  Result<RepairReport> Repair(RepairOptions options) {
    return RepairLog(scratch_.dir(), kName, key_, TestIdentity(), options);
  }
  static std::string Blank(std::string bytes, std::size_t at, std::size_t count) {
    return bytes.replace(at, count, count, '\0');
  }
  inline static const RepairOptions kAll{true, true, false};
};

TEST_F(LogRepairTest, ACleanLogIsLeftAsItIs) {
  Make({"a", "b"});
  const std::string before = Load();
  const auto report = Repair(kAll);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->found, LogVerdict::kClean);
  EXPECT_EQ(report->cut_bytes, 0U);
  EXPECT_EQ(Load(), before);
}

TEST_F(LogRepairTest, CutsATornTailOnlyWhenToldTo) {
  Make({"a", "b"});
  const std::string clean = Load();
  const std::uint64_t end = Verify().bytes;
  std::string torn = clean;
  torn.replace(end, 4, "REC1");
  torn[end + 9000] = 'x';
  Store(torn);
  EXPECT_EQ(Repair({}).error().code, Code::kTornTail);
  const auto planned = Repair({true, false, true});
  ASSERT_TRUE(planned);
  EXPECT_EQ(Load(), torn) << "a dry run writes nothing";
  const auto done = Repair({true, false, false});
  ASSERT_TRUE(done);
  EXPECT_EQ(done->cut_offset, end);
  EXPECT_EQ(done->cut_bytes, 9001U);
  EXPECT_EQ(done->cut_bytes, planned->cut_bytes);
  EXPECT_EQ(done->last_sequence, 2U);
  EXPECT_EQ(Load(), clean);
  EXPECT_EQ(Open()->Append(AsBytes("c"), Durability::kRecord), 3U);
}

// Every state of the slots that one damaged slot can leave, with 0 to 2 batches unnamed before.
TEST_F(LogRepairTest, RewritesOneDamagedHead) {
  std::vector<std::string> states;
  {
    LogWriter writer = Create();
    states.push_back(Load());
    for (int i = 0; i < 5; ++i) {
      ASSERT_TRUE(writer.Append(AsBytes("record"), Durability::kRecord));
      states.push_back(Load());
    }
  }
  for (std::size_t count = 0; count < states.size(); ++count) {
    for (std::size_t lag = 0; lag <= 2 && lag <= count; ++lag) {
      for (std::size_t slot = 1; slot <= 2; ++slot) {
        const std::string with_lag =
            std::string(states[count])
                .replace(kLogBlockBytes, 2 * kLogBlockBytes, states[count - lag], kLogBlockBytes,
                         2 * kLogBlockBytes);
        Store(Blank(with_lag, slot * kLogBlockBytes, kHeadBytes));
        ASSERT_EQ(OpenCode(), Code::kCorrupt);
        ASSERT_EQ(Repair({}).error().code, Code::kCorrupt);
        const auto report = Repair({false, true, false});
        ASSERT_TRUE(report.has_value()) << count << lag << slot << report.error().message;
        EXPECT_TRUE(report->head_rewritten);
        EXPECT_EQ(report->last_sequence, count);
        EXPECT_EQ(Open()->last_sequence(), count);
        EXPECT_EQ(Load(), states[count]) << "as if nothing had happened";
      }
    }
  }
}

TEST_F(LogRepairTest, AnOldSlotCountsAsDamaged) {
  std::string old;
  {
    LogWriter writer = Create();
    ASSERT_TRUE(writer.Append(AsBytes("a"), Durability::kRecord));
    old = Load();
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(writer.Append(AsBytes("b"), Durability::kRecord));
    }
  }
  const std::string now = Load();
  for (std::size_t slot = 1; slot <= 2; ++slot) {
    Store(std::string(now).replace(slot * kLogBlockBytes, kLogBlockBytes, old,
                                   slot * kLogBlockBytes, kLogBlockBytes));
    ASSERT_EQ(OpenCode(), Code::kCorrupt);
    ASSERT_TRUE(Repair(kAll));
    EXPECT_EQ(Open()->last_sequence(), 4U);
  }
}

TEST_F(LogRepairTest, NeverMendsWhatLostRecords) {
  Make({"first", "second", "third"});
  const std::string whole = Load();
  const std::uint64_t end = Verify().bytes;
  const std::size_t last = kFrameHeaderBytes + 5;
  const std::string cases[] = {
      Blank(whole, end - last, last),                                     // under its head
      Blank(Blank(whole, end - last, last), kLogBlockBytes, kHeadBytes),  // and one slot gone
      Blank(Blank(whole, end - last, last), 2 * kLogBlockBytes, kHeadBytes),
      Blank(whole, kLogBlockBytes, 2 * kLogBlockBytes),         // no head
      Blank(whole, kFirstRecordOffset + kFrameHeaderBytes, 1),  // an early record
      whole.substr(0, end - 1),
  };
  int mended = 0;
  for (const std::string& bytes : cases) {
    Store(bytes);
    const auto report = Repair(kAll);
    if (report) {
      // The newest head was lost together with its batch: nothing is left that names the batch.
      EXPECT_EQ(report->last_sequence, 2U);
      ++mended;
      continue;
    }
    EXPECT_EQ(report.error().code, Code::kCorrupt);
    EXPECT_EQ(Load(), bytes) << "nothing was written";
  }
  EXPECT_EQ(mended, 1);
}

TEST_F(LogRepairTest, StaleHeadsAreNotMended) {
  std::string old;
  {
    LogWriter writer = Create();
    old = Load();
    for (int i = 0; i < 6; ++i) {
      ASSERT_TRUE(writer.Append(AsBytes("b"), Durability::kRecord));
    }
  }
  const std::string stale =
      Load().replace(kLogBlockBytes, 2 * kLogBlockBytes, old, kLogBlockBytes, 2 * kLogBlockBytes);
  Store(stale);
  EXPECT_EQ(Repair(kAll).error().code, Code::kCorrupt);
  Store(Blank(stale, kLogBlockBytes, kHeadBytes));
  EXPECT_EQ(Repair(kAll).error().code, Code::kCorrupt);
}

TEST_F(LogRepairTest, NeedsTheLock) {
  const LogWriter writer = Create();
  EXPECT_EQ(Repair(kAll).error().code, Code::kBusy);
}

}  // namespace
}  // namespace maco

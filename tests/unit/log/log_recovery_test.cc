// What a crash leaves at each step of an append, and what the next opening makes of it.
// Contract under test: docs/formats/log.md, "Writing" and "Opening for append".
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/log/log_fixture.h"

namespace maco {
namespace {

class LogRecoveryTest : public LogFixture {
 protected:
  // The file after each of `count` appends, slots as in the page cache.
  std::vector<std::string> States(int count) {
    std::vector<std::string> states;
    LogWriter writer = Create();
    states.push_back(Load());
    for (int i = 1; i <= count; ++i) {
      EXPECT_TRUE(writer.Append(AsBytes("record " + std::to_string(i)), Durability::kRecord));
      states.push_back(Load());
    }
    return states;
  }
  static std::string WithSlotsOf(std::string records, const std::string& slots) {
    return records.replace(kLogBlockBytes, 2 * kLogBlockBytes, slots, kLogBlockBytes,
                           2 * kLogBlockBytes);
  }
};

TEST_F(LogRecoveryTest, ALaggingHeadIsRolledForward) {
  const auto states = States(4);
  for (std::size_t lag = 0; lag <= 2; ++lag) {
    Store(WithSlotsOf(states[4], states[4 - lag]));
    const LogSummary before = Verify();
    EXPECT_EQ(before.verdict, lag == 0 ? LogVerdict::kClean : LogVerdict::kHeadLag);
    EXPECT_EQ(before.head_lag, lag);
    EXPECT_EQ(before.records, 4U);
    {
      const auto writer = Open();
      ASSERT_TRUE(writer);
      EXPECT_EQ(writer->last_sequence(), 4U);
    }
    EXPECT_EQ(Load(), states[4]) << "the same bytes as without the crash";
  }
}

TEST_F(LogRecoveryTest, UnnamedRecordsAreMarked) {
  const auto states = States(3);
  Store(WithSlotsOf(states[3], states[2]));
  auto reader = LogReader::Open(scratch_.dir(), kName, key_, TestIdentity());
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->last_sequence(), 3U);
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ((*reader->Next())->named, i < 3);
  }
}

// The record of append 3 is cut at each byte, as pages written in part leave it; slots as before.
TEST_F(LogRecoveryTest, ATornTailIsReportedNotCut) {
  const auto states = States(3);
  std::size_t first = 0;
  while (states[3][first] == states[2][first] || first < kFirstRecordOffset) {
    ++first;
  }
  const std::size_t length = kFrameHeaderBytes + std::string("record 3").size();
  for (const std::size_t slots : {1U, 2U}) {  // the head of append 2 may be missing too
    for (std::size_t kept = 1; kept < length; ++kept) {
      std::string torn = WithSlotsOf(states[2], states[slots]);
      torn.replace(first, kept, states[3], first, kept);
      Store(torn);
      const auto writer = Open();
      ASSERT_FALSE(writer.has_value()) << kept;
      EXPECT_EQ(writer.error().code, Code::kTornTail);
      EXPECT_NE(writer.error().message.find(std::to_string(first)), std::string::npos);
      EXPECT_EQ(Verify().verdict, LogVerdict::kTornTail);
      EXPECT_EQ(Verify().offset, first);
      EXPECT_EQ(Verify().records, 2U);
      EXPECT_EQ(Load(), torn) << "nothing was written";
    }
  }
  EXPECT_EQ(Read().error().code, Code::kTornTail);
  auto reader = LogReader::OpenTorn(scratch_.dir(), kName, key_, TestIdentity());
  ASSERT_TRUE(reader);
  EXPECT_EQ(AsText((*reader->Next())->payload), "record 1");
  EXPECT_EQ(AsText((*reader->Next())->payload), "record 2");
  EXPECT_FALSE((*reader->Next()).has_value());
}

TEST_F(LogRecoveryTest, ATailWithoutItsBeginningIsTornToo) {
  const auto states = States(3);
  std::string torn = states[3];
  const std::uint64_t end = kFirstRecordOffset + 3 * (kFrameHeaderBytes + 8);
  torn[end + 5000] = 'x';  // a later page of a batch, its first page not written
  Store(torn);
  EXPECT_EQ(OpenCode(), Code::kTornTail);
  EXPECT_EQ(Verify().offset, end);
}

// Two threads look at a long one; no byte lies between them.
TEST_F(LogRecoveryTest, OneByteInALongTailIsFoundWhereverItIs) {
  constexpr std::uint64_t kBytes = (std::uint64_t{20} << 20U) + 12345;
  Make({"record 1"});
  const std::uint64_t end = kFirstRecordOffset + kFrameHeaderBytes + 8;
  const UniqueFd fd(open(scratch_.Path(kName).c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(ftruncate(fd.get(), static_cast<off_t>(kBytes)), 0);
  EXPECT_EQ(Read()->size(), 1U);
  EXPECT_EQ(Verify().verdict, LogVerdict::kClean);
  const std::uint64_t middle = end + (kBytes - end) / 2;
  for (const std::uint64_t at :
       {end, end + 1, end + 65535, end + 65536, middle - 65536, middle - 1, middle, middle + 1,
        middle + 65536, kBytes - 65536, kBytes - 2, kBytes - 1}) {
    ASSERT_TRUE(PwriteAll(fd.get(), AsBytes("x"), at));
    EXPECT_EQ(OpenCode(), Code::kTornTail) << at;
    EXPECT_EQ(Read().error().code, Code::kTornTail) << at;
    ASSERT_TRUE(PwriteAll(fd.get(), AsBytes(std::string(1, '\0')), at));
  }
  EXPECT_EQ(Read()->size(), 1U);
}

TEST_F(LogRecoveryTest, AGroupCountsWholeOrNotAtAll) {
  std::string before;
  std::string after;
  {
    LogWriter writer = Create();
    ASSERT_TRUE(writer.Append(AsBytes("a"), Durability::kRecordAndHead));
    before = Load();
    const std::span<const std::uint8_t> group[] = {AsBytes("b"), AsBytes("c")};
    ASSERT_TRUE(writer.AppendGroup(group, Durability::kRecordAndHead));
    after = Load();
  }
  Store(WithSlotsOf(after, before));
  EXPECT_EQ(Read()->size(), 3U);
  // Only the first record of the group arrived.
  const std::size_t second = kFirstRecordOffset + 2 * (kFrameHeaderBytes + 1);
  std::string partial = WithSlotsOf(after, before);
  partial.replace(second, kFrameHeaderBytes + 1, kFrameHeaderBytes + 1, '\0');
  Store(partial);
  EXPECT_EQ(OpenCode(), Code::kTornTail);
  EXPECT_EQ(Verify().records, 1U);
  EXPECT_EQ(Verify().offset, kFirstRecordOffset + kFrameHeaderBytes + 1);
}

TEST_F(LogRecoveryTest, ADamagedSlotIsAVerdictNotRolledForward) {
  const auto states = States(4);
  for (const std::size_t slot : {1U, 2U}) {
    std::string damaged = states[4];
    damaged.replace(slot * kLogBlockBytes, 512, 512, '\0');
    Store(damaged);
    EXPECT_EQ(OpenCode(), Code::kCorrupt);
    EXPECT_EQ(Read().error().code, Code::kCorrupt);
    EXPECT_EQ(Verify().verdict, LogVerdict::kDamagedHead);
    EXPECT_EQ(Verify().offset, slot * kLogBlockBytes);
    EXPECT_EQ(Verify().records, 4U);
    EXPECT_EQ(Load(), damaged) << "nothing was written";
  }
  std::string none = states[4];
  none.replace(kLogBlockBytes, 2 * kLogBlockBytes, 2 * kLogBlockBytes, '\0');
  Store(none);
  EXPECT_EQ(Verify().verdict, LogVerdict::kNoHead);
  EXPECT_EQ(OpenCode(), Code::kCorrupt);
}

TEST_F(LogRecoveryTest, ALaterVersionIsNamedAsSuch) {
  Make({"a"});
  std::string later = Load();
  later[8] = 2;
  Store(later);
  EXPECT_EQ(OpenCode(), Code::kUnsupported);
}

}  // namespace
}  // namespace maco

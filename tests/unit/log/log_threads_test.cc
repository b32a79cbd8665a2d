// Verifying on several threads: whatever is wrong with a log, the summary is that of one thread.
// Contract under test: VerifyLog in libcommon/log/log_verify.h. The preset tsan runs it too.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/log/log_fixture.h"

namespace maco {
namespace {

class LogThreadsTest : public LogFixture {
 protected:
  // About 9 MiB in batches of many sizes; most records are small, some of 1 MiB.
  void MakeLarge() {
    LogWriter writer = Create();
    const std::string small(3000, 's');
    const std::string large(kMaxPayloadBytes, 'l');
    for (int batch = 0; batch < 12; ++batch) {
      const std::vector<std::span<const std::uint8_t>> group(
          batch % 6 == 0 ? 2 : 150, AsBytes(batch % 6 == 0 ? large : small));
      ASSERT_TRUE(writer.AppendGroup(group, Durability::kRecord));
    }
    end_ = writer.end();
    ASSERT_TRUE(writer.Close());
  }

  LogSummary On(unsigned threads) {
    auto summary = VerifyLog(scratch_.dir(), kName, key_, TestIdentity(), threads);
    EXPECT_TRUE(summary.has_value());
    return summary.value_or(LogSummary{});
  }

  LogSummary ExpectSame(const std::string& what) {
    const LogSummary one = On(1);
    for (const unsigned threads : {2U, 3U, 8U}) {
      const LogSummary many = On(threads);
      EXPECT_EQ(many.verdict, one.verdict) << what << ", threads " << threads;
      EXPECT_EQ(many.offset, one.offset) << what << ", threads " << threads;
      EXPECT_EQ(many.records, one.records) << what << ", threads " << threads;
      EXPECT_EQ(many.batches, one.batches) << what << ", threads " << threads;
      EXPECT_EQ(many.bytes, one.bytes) << what << ", threads " << threads;
      EXPECT_EQ(many.last_mac, one.last_mac) << what << ", threads " << threads;
      EXPECT_EQ(many.head_lag, one.head_lag) << what << ", threads " << threads;
    }
    return one;
  }

  // One byte of the file, there and back.
  void Flip(std::uint64_t offset) {
    const UniqueFd fd(open(scratch_.Path(kName).c_str(), O_RDWR | O_CLOEXEC));
    std::uint8_t byte = 0;
    ASSERT_EQ(pread(fd.get(), &byte, 1, static_cast<off_t>(offset)), 1);
    byte ^= 0x10U;
    ASSERT_EQ(pwrite(fd.get(), &byte, 1, static_cast<off_t>(offset)), 1);
  }

  std::uint64_t end_ = 0;
};

TEST_F(LogThreadsTest, AnIntactLogIsCountedInFull) {
  MakeLarge();
  const LogSummary summary = ExpectSame("intact");
  EXPECT_EQ(summary.verdict, LogVerdict::kClean);
  EXPECT_EQ(summary.records, 1504U);
  EXPECT_EQ(summary.bytes, end_);
}

TEST_F(LogThreadsTest, TheFirstWrongRecordIsTheSame) {
  MakeLarge();
  // In frames and payloads, in the first piece and in later ones, and two at once.
  for (std::uint64_t offset = kFirstRecordOffset + 3; offset < end_; offset += 611'953) {
    Flip(offset);
    EXPECT_EQ(ExpectSame("byte " + std::to_string(offset)).verdict, LogVerdict::kChanged);
    Flip(end_ - 10);
    EXPECT_LE(ExpectSame("also the last batch").offset, offset);
    Flip(end_ - 10);
    Flip(offset);
  }
}

TEST_F(LogThreadsTest, DamagedHeadsAndCutFilesAreTheSame) {
  MakeLarge();
  for (const std::uint64_t slot : {1U, 2U}) {
    Flip(slot * kLogBlockBytes + 9);
    EXPECT_EQ(ExpectSame("slot").verdict, LogVerdict::kDamagedHead);
    Flip(kFirstRecordOffset + 5'000'000);
    ExpectSame("slot and record");
    Flip(kFirstRecordOffset + 5'000'000);
    Flip(slot * kLogBlockBytes + 9);
  }
  for (const std::uint64_t size : {end_ - 1, end_ - 2'500'000, std::uint64_t{5'000'000}}) {
    ASSERT_EQ(truncate(scratch_.Path(kName).c_str(), static_cast<off_t>(size)), 0);
    EXPECT_EQ(ExpectSame("cut").verdict, LogVerdict::kTruncated);
  }
}

}  // namespace
}  // namespace maco

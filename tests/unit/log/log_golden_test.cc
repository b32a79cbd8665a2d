// The bytes of version 1: today's writer makes the golden files, and today's reader reads them.
// Golden files: tests/vectors/log-v1-*.bin, made by tests/vectors/make_log_vectors.py.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/log/log_fixture.h"

namespace maco {
namespace {

using LogGoldenTest = LogFixture;

std::string Golden(const std::string& name) {
  const auto bytes = ReadPath(std::string(MACO_VECTORS) + "/" + name, std::size_t{1} << 20U);
  EXPECT_TRUE(bytes.has_value()) << name;
  return bytes.value_or("");
}

TEST_F(LogGoldenTest, EmptyLog) {
  ASSERT_TRUE(Create().Close());
  // The golden files end after the last record; zeros mean nothing.
  const std::string golden = Golden("log-v1-empty.bin");
  EXPECT_EQ(Load().substr(0, golden.size()), golden);
  Store(golden);
  EXPECT_EQ(Read(), std::vector<std::string>{});
}

TEST_F(LogGoldenTest, RecordsAndAGroup) {
  {
    LogWriter writer = Create();
    ASSERT_TRUE(writer.Append(AsBytes("hello"), Durability::kRecord));
    const std::string bytes("\0\1\2\xff", 4);
    const std::span<const std::uint8_t> group[] = {AsBytes(""), AsBytes(bytes)};
    ASSERT_TRUE(writer.AppendGroup(group, Durability::kRecordAndHead));
    ASSERT_TRUE(writer.Append(AsBytes("last"), Durability::kRecord));
  }
  const std::string golden = Golden("log-v1-records.bin");
  EXPECT_EQ(Load().substr(0, golden.size()), golden);
  Store(golden);
  EXPECT_EQ(Read(), (std::vector<std::string>{"hello", "", std::string("\0\1\2\xff", 4), "last"}));
}

TEST_F(LogGoldenTest, HeadLagAndTornTail) {
  Store(Golden("log-v1-head-lag.bin"));
  EXPECT_EQ(Verify().verdict, LogVerdict::kHeadLag);
  EXPECT_EQ(Verify().head_lag, 1U);
  EXPECT_EQ(Read()->size(), 4U);
  Store(Golden("log-v1-torn-tail.bin"));
  EXPECT_EQ(Verify().verdict, LogVerdict::kTornTail);
  EXPECT_EQ(Verify().records, 3U);
  EXPECT_EQ(OpenCode(), Code::kTornTail);
}

}  // namespace
}  // namespace maco

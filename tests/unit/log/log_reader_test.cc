// Reading: beside an active writer, across windows, of an empty log.
// Contract under test: libcommon/log/log_reader.h.
#include "libcommon/log/log_reader.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <string>

#include "tests/unit/log/log_fixture.h"

namespace maco {
namespace {

using LogReaderTest = LogFixture;

TEST_F(LogReaderTest, AnEmptyLogIsCleanAndHasNoRecords) {
  Make({});
  EXPECT_EQ(Read(), std::vector<std::string>{});
  EXPECT_EQ(Verify().verdict, LogVerdict::kClean);
  EXPECT_EQ(Verify().records, 0U);
}

TEST_F(LogReaderTest, ShowsAConsistentPrefixBesideAWriter) {
  LogWriter writer = Create();
  ASSERT_TRUE(writer.Append(AsBytes("one"), Durability::kRecord));
  auto reader = LogReader::Open(scratch_.dir(), kName, key_, TestIdentity());
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->ends().verdict, LogVerdict::kInFlight);
  ASSERT_TRUE(writer.Append(AsBytes("two"), Durability::kRecord));
  EXPECT_EQ(AsText((*reader->Next())->payload), "one");
  EXPECT_FALSE((*reader->Next()).has_value()) << "a reader keeps the end it was opened with";
  EXPECT_EQ(Read()->size(), 2U);
}

TEST_F(LogReaderTest, IgnoresWhatIsInFlight) {
  LogWriter writer = Create();
  ASSERT_TRUE(writer.Append(AsBytes("one"), Durability::kRecord));
  const UniqueFd fd(open(scratch_.Path(kName).c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(PwriteAll(fd.get(), AsBytes("REC1 half a record"), writer.end()));
  EXPECT_EQ(Read()->size(), 1U);
  EXPECT_EQ(Verify().verdict, LogVerdict::kInFlight);
}

TEST_F(LogReaderTest, ReadsRecordsLargerThanItsWindow) {
  const std::vector<std::string> records = {std::string(kMaxPayloadBytes, 'a'), "small",
                                            std::string(300'000, 'b'), std::string(262'144, 'c')};
  Make(records);
  EXPECT_EQ(Read(), records);
}

// A child appends as fast as it can; whatever moment a reader picks, it sees a prefix.
TEST_F(LogReaderTest, NeverFailsBesideABusyWriter) {
  constexpr int kAppends = 400;
  ASSERT_TRUE(Create().Close());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto writer = Open();
    bool ok = writer.has_value();
    for (int i = 0; ok && i < kAppends; ++i) {
      ok = writer->Append(AsBytes(std::to_string(i)), Durability::kRecord).has_value();
    }
    _exit(ok ? 0 : 1);
  }
  int status = -1;
  std::size_t seen = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    const auto records = Read();
    ASSERT_TRUE(records.has_value()) << records.error().message;
    EXPECT_GE(records->size(), seen);
    seen = records->size();
  }
  EXPECT_EQ(status, 0);
  EXPECT_EQ(Read()->size(), std::size_t{kAppends});
}

}  // namespace
}  // namespace maco

// Reading: beside an active writer, across windows, of an empty log.
// Contract under test: libcommon/log/log_reader.h.
#include "libcommon/log/log_reader.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

#include "libcommon/os/ofd_lock.h"
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

// A writer that comes at any moment of a reader's look, and has written a record but not named it:
// the record may not be flushed, so the reader does not show it.
TEST_F(LogReaderTest, ShowsNothingThatAWriterWhichJustCameHasNotNamed) {
  Make({"one"});
  const std::string before = Load();
  ASSERT_TRUE(Open()->Append(AsBytes("two"), Durability::kRecord));
  const std::string after = Load();
  const auto records = std::string_view(after).substr(kFirstRecordOffset);
  int stop = 0;
  for (bool reached = true; reached; ++stop) {
    Store(before);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
      raise(SIGSTOP);
      const auto seen = Read();
      _exit(seen ? static_cast<int>(seen->size()) : 100);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    int at = 0;
    for (; at < stop && WIFSTOPPED(status); ++at) {
      ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
      ASSERT_EQ(waitpid(child, &status, 0), child);
    }
    reached = WIFSTOPPED(status);
    if (reached) {
      const UniqueFd writer(open(scratch_.Path(kName).c_str(), O_RDWR | O_CLOEXEC));
      ASSERT_TRUE(OfdLock::TryLock(writer.get()));
      ASSERT_TRUE(PwriteAll(writer.get(), AsBytes(records), kFirstRecordOffset));
      ptrace(PTRACE_DETACH, child, nullptr, nullptr);
      ASSERT_EQ(waitpid(child, &status, 0), child);
    }
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 1) << "the writer came at stop " << stop;
  }
  EXPECT_GT(stop, 10) << "the reader was never stopped on its way";
}

}  // namespace
}  // namespace maco

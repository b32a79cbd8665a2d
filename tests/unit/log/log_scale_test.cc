// Many writers and many records: 8 processes that take turns, and a log of 1,000,000 records.
// Tests libcommon/log as a whole (JRN-02, JRN-03).
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <set>

#include "libcommon/log/log_verify.h"
#include "tests/unit/log/log_fixture.h"

namespace maco {
namespace {

class LogScaleTest : public LogFixture {
 protected:
  // Opens, appends one record and closes, so that every append is a turn of its own.
  void AppendInTurn(int process, int count) const {
    for (int i = 0; i < count; ++i) {
      auto writer = LogWriter::Open(scratch_.dir(), kName, key_, TestIdentity(), LogLock::kWait);
      const std::string record = std::to_string(process) + "." + std::to_string(i);
      if (!writer || !writer->Append(AsBytes(record), Durability::kRecord) || !writer->Close()) {
        _exit(1);
      }
    }
    _exit(0);
  }
};

TEST_F(LogScaleTest, EightProcessesTakeTurns) {
  constexpr int kProcesses = 8;
  constexpr int kAppends = 500;
  Make({});
  std::array<pid_t, kProcesses> children{};
  for (int process = 0; process < kProcesses; ++process) {
    children.at(static_cast<std::size_t>(process)) = fork();
    if (children.at(static_cast<std::size_t>(process)) == 0) {
      AppendInTurn(process, kAppends);
    }
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  auto reader = LogReader::Open(scratch_.dir(), kName, key_, TestIdentity());
  ASSERT_TRUE(reader);
  std::set<std::string> seen;
  std::array<int, kProcesses> next{};
  for (;;) {
    const auto entry = reader->Next();
    ASSERT_TRUE(entry);
    if (!*entry) {
      break;
    }
    const std::string text((*entry)->payload.begin(), (*entry)->payload.end());
    EXPECT_TRUE(seen.insert(text).second) << text;
    const auto process = static_cast<std::size_t>(text[0] - '0');
    EXPECT_EQ(text.substr(2), std::to_string(next.at(process)++)) << "in the order of its writer";
  }
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(kProcesses * kAppends));
}

TEST_F(LogScaleTest, AMillionRecords) {
  constexpr std::uint64_t kRecords = 1'000'000;
  {
    LogWriter writer = Create();
    const std::string text = "sixteen bytes ..";
    const std::vector<std::span<const std::uint8_t>> group(1000, AsBytes(text));
    for (std::uint64_t done = 0; done < kRecords; done += group.size()) {
      ASSERT_TRUE(writer.AppendGroup(group, Durability::kRecord));
    }
    ASSERT_TRUE(writer.Close());
  }
  const auto summary = VerifyLog(scratch_.dir(), kName, key_, TestIdentity(), 2);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->verdict, LogVerdict::kClean);
  EXPECT_EQ(summary->records, kRecords);
  auto writer = Open();
  ASSERT_TRUE(writer);
  EXPECT_EQ(writer->Append(AsBytes("x"), Durability::kRecord), kRecords + 1);
}

}  // namespace
}  // namespace maco

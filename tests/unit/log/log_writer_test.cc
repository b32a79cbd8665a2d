// Appending: sequences, groups, limits, the lock, failing writes, several processes.
// Contract under test: libcommon/log/log_writer.h.
#include "libcommon/log/log_writer.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <set>
#include <string>

#include "tests/unit/log/log_fixture.h"

namespace maco {
namespace {

using LogWriterTest = LogFixture;

TEST_F(LogWriterTest, NumbersRecordsFromOneAndReadsThemBack) {
  {
    LogWriter writer = Create();
    EXPECT_EQ(writer.last_sequence(), 0U);
    EXPECT_EQ(writer.Append(AsBytes("one"), Durability::kRecord), 1U);
    EXPECT_EQ(writer.Append(AsBytes(""), Durability::kRecordAndHead), 2U);
    ASSERT_TRUE(writer.Close());
    EXPECT_EQ(writer.Append(AsBytes("x"), Durability::kRecord).error().code, Code::kInternal);
  }
  {
    auto writer = Open();
    ASSERT_TRUE(writer);
    EXPECT_EQ(writer->last_sequence(), 2U);
    EXPECT_EQ(writer->Append(AsBytes("three"), Durability::kRecord), 3U);
  }
  EXPECT_EQ(Read(), (std::vector<std::string>{"one", "", "three"}));
  EXPECT_EQ(Verify().verdict, LogVerdict::kClean);
  EXPECT_EQ(Verify().records, 3U);
}

TEST_F(LogWriterTest, AGroupIsOneBatch) {
  {
    LogWriter writer = Create();
    ASSERT_TRUE(writer.Append(AsBytes("a"), Durability::kRecord));
    const std::span<const std::uint8_t> group[] = {AsBytes("b"), AsBytes("c"), AsBytes("d")};
    EXPECT_EQ(writer.AppendGroup(group, Durability::kRecord), 2U);
    EXPECT_EQ(writer.last_sequence(), 4U);
    EXPECT_EQ(writer.Append(AsBytes("e"), Durability::kRecord), 5U);
  }
  EXPECT_EQ(Read(), (std::vector<std::string>{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(Verify().batches, 3U);
}

TEST_F(LogWriterTest, LimitsLeaveTheWriterUsable) {
  LogWriter writer = Create();
  const std::string big(kMaxPayloadBytes, 'x');
  EXPECT_EQ(writer.Append(AsBytes(big + "x"), Durability::kRecord).error().code, Code::kLimit);
  EXPECT_EQ(writer.AppendGroup({}, Durability::kRecord).error().code, Code::kInvalid);
  const std::vector<std::span<const std::uint8_t>> many(kMaxBatchRecords + 1);
  EXPECT_EQ(writer.AppendGroup(many, Durability::kRecord).error().code, Code::kLimit);
  const std::vector<std::span<const std::uint8_t>> large(4, AsBytes(big));
  EXPECT_EQ(writer.AppendGroup(large, Durability::kRecord).error().code, Code::kLimit);
  EXPECT_EQ(writer.Reserve(kMaxLogBytes).error().code, Code::kLimit);

  EXPECT_EQ(writer.Append(AsBytes(big), Durability::kRecord), 1U);
  const std::vector<std::span<const std::uint8_t>> most(kMaxBatchRecords);
  EXPECT_EQ(writer.AppendGroup(most, Durability::kRecord), 2U);
  ASSERT_TRUE(writer.Close());
  EXPECT_EQ(Read()->size(), 1 + kMaxBatchRecords);
}

TEST_F(LogWriterTest, ReservedRoomIsKept) {
  LogWriter writer = Create();
  ASSERT_TRUE(writer.Reserve(1 << 20U));
  EXPECT_GE(Verify().file_bytes, kFirstRecordOffset + (1 << 20U));
  EXPECT_EQ(Verify().verdict, LogVerdict::kInFlight);
  ASSERT_TRUE(writer.Append(AsBytes("x"), Durability::kRecord));
  ASSERT_TRUE(writer.Close());
  EXPECT_EQ(Verify().verdict, LogVerdict::kClean);
}

TEST_F(LogWriterTest, RefusesBadIds) {
  for (const LogIdentity& identity :
       {LogIdentity{"", "o"}, LogIdentity{"r", ""}, LogIdentity{std::string(65, 'r'), "o"},
        LogIdentity{"r", std::string(256, 'o')}}) {
    EXPECT_EQ(LogWriter::Create(scratch_.dir(), kName, key_, identity).error().code,
              Code::kInvalid);
  }
  EXPECT_EQ(OpenCode(), Code::kNotFound) << "nothing was created";
  const LogIdentity longest{std::string(64, 'r'), std::string(255, 'o')};
  ASSERT_TRUE(LogWriter::Create(scratch_.dir(), kName, key_, longest));
  EXPECT_TRUE(LogWriter::Open(scratch_.dir(), kName, key_, longest));
}

TEST_F(LogWriterTest, CreateNeverReplaces) {
  Make({"a"});
  EXPECT_EQ(LogWriter::Create(scratch_.dir(), kName, key_, TestIdentity()).error().code,
            Code::kExists);
  EXPECT_EQ(scratch_.dir().List(10)->size(), 1U) << "the temporary was removed";
}

TEST_F(LogWriterTest, ASecondWriterIsRefused) {
  LogWriter writer = Create();
  EXPECT_EQ(OpenCode(), Code::kBusy) << "the lock is held from creation on";
  ASSERT_TRUE(writer.Close());
  const auto again = Open();
  ASSERT_TRUE(again);
  EXPECT_EQ(OpenCode(), Code::kBusy);
}

TEST_F(LogWriterTest, RefusesUnsafeFiles) {
  Make({"a"});
  const std::string path = scratch_.Path(kName);
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  EXPECT_EQ(OpenCode(), Code::kPermission);
  EXPECT_EQ(Read().error().code, Code::kPermission);
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  ASSERT_EQ(link(path.c_str(), scratch_.Path("alias").c_str()), 0);
  EXPECT_EQ(OpenCode(), Code::kPermission);
  ASSERT_EQ(unlink(path.c_str()), 0);
  ASSERT_EQ(symlink("alias", path.c_str()), 0);
  EXPECT_EQ(OpenCode(), Code::kIo);
  EXPECT_EQ(Read().error().code, Code::kIo);
}

// Limits the size of files for as long as it lives; a write beyond fails with EFBIG.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

// A limit at every kind of place: in the slots, at record starts, inside records, in the zeros.
TEST_F(LogWriterTest, AFailedWritePoisonsAndTheNextOpeningRecovers) {
  const std::string payload(40'000, 'p');
  for (const rlim_t limit : {12'288UL, 12'289UL, 60'000UL, 65'536UL, 65'537UL, 70'000UL, 92'480UL,
                             100'000UL, 131'071UL}) {
    const std::string name = "log-" + std::to_string(limit);
    auto writer = LogWriter::Create(scratch_.dir(), name, key_, TestIdentity());
    ASSERT_TRUE(writer);
    std::uint64_t acknowledged = 0;
    {
      const FileSizeLimit guard(limit);
      for (int i = 0; i < 3; ++i) {
        const auto sequence = writer->Append(AsBytes(payload), Durability::kRecord);
        if (!sequence) {
          EXPECT_EQ(sequence.error().code, Code::kIo);
          break;
        }
        acknowledged = *sequence;
      }
      ASSERT_LT(acknowledged, 3U);
      EXPECT_EQ(writer->Append(AsBytes("x"), Durability::kRecord).error().code, Code::kIo);
    }
    EXPECT_EQ(writer->Append(AsBytes("x"), Durability::kRecord).error().code, Code::kIo)
        << "poisoned although writing would work again";
    EXPECT_EQ(writer->Reserve(1).error().code, Code::kIo);
    ASSERT_TRUE(writer->Close());
    auto again = LogWriter::Open(scratch_.dir(), name, key_, TestIdentity());
    ASSERT_TRUE(again.has_value()) << limit << ": " << again.error().message;
    EXPECT_EQ(again->last_sequence(), acknowledged);
    EXPECT_TRUE(again->Append(AsBytes("more"), Durability::kRecordAndHead));
  }
}

TEST_F(LogWriterTest, CreationUnderAFullDiskLeavesNothing) {
  const FileSizeLimit guard(10'000);
  EXPECT_EQ(LogWriter::Create(scratch_.dir(), kName, key_, TestIdentity()).error().code, Code::kIo);
  EXPECT_TRUE(scratch_.dir().List(10)->empty());
}

TEST_F(LogWriterTest, FourProcessesTakeTurns) {
  constexpr int kProcesses = 4;
  constexpr int kAppends = 200;
  ASSERT_TRUE(Create().Close());
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      int failures = 0;
      for (int i = 0; i < kAppends; ++i) {
        auto writer = LogWriter::Open(scratch_.dir(), kName, key_, TestIdentity(), LogLock::kWait);
        const std::string payload = std::to_string(p) + ":" + std::to_string(i);
        failures += !writer || !writer->Append(AsBytes(payload), Durability::kRecord);
      }
      _exit(failures == 0 ? 0 : 1);
    }
  }
  int status = 0;
  while (wait(&status) > 0) {
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(Verify().verdict, LogVerdict::kClean);
  const auto records = Read();
  ASSERT_TRUE(records);
  EXPECT_EQ(records->size(), std::size_t{kProcesses * kAppends});
  EXPECT_EQ(std::set<std::string>(records->begin(), records->end()).size(), records->size());
}

}  // namespace
}  // namespace maco

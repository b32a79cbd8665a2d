// Owned descriptors, full reads and writes, and the standard descriptors of a badly started
// process. Contract under test: libcommon/os/fd.h.
#include "libcommon/os/fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "tests/unit/os/in_child.h"
#include "tests/unit/scratch_dir.h"

namespace maco {
namespace {

bool IsOpen(int fd) { return fcntl(fd, F_GETFD) >= 0; }

TEST(UniqueFd, ClosesOnceAndMoves) {
  int number = -1;
  {
    UniqueFd first(open("/dev/null", O_RDONLY | O_CLOEXEC));
    number = first.get();
    UniqueFd second(std::move(first));
    EXPECT_TRUE(IsOpen(number));
    EXPECT_EQ(second.get(), number);
    UniqueFd third;
    third = std::move(second);
    EXPECT_EQ(third.get(), number);
    auto& same = third;
    third = std::move(same);
    EXPECT_TRUE(IsOpen(number));
  }
  EXPECT_FALSE(IsOpen(number));
}

TEST(UniqueFd, AssignmentClosesWhatItHad) {
  UniqueFd one(open("/dev/null", O_RDONLY | O_CLOEXEC));
  UniqueFd two(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int closed = one.get();
  one = std::move(two);
  EXPECT_FALSE(IsOpen(closed));
  const int released = one.Release();
  EXPECT_FALSE(one.valid());
  EXPECT_TRUE(IsOpen(released));
  close(released);
}

TEST(Pipe, IsCloseOnExec) {
  const auto pipe = MakePipe();
  ASSERT_TRUE(pipe.has_value());
  EXPECT_EQ(fcntl(pipe->read_end.get(), F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(fcntl(pipe->write_end.get(), F_GETFD), FD_CLOEXEC);
  const auto copy = Duplicate(pipe->read_end.get());
  ASSERT_TRUE(copy.has_value());
  EXPECT_EQ(fcntl(copy->get(), F_GETFD), FD_CLOEXEC);
  EXPECT_GT(copy->get(), 2);
  EXPECT_FALSE(Duplicate(-1).has_value());
}

TEST(WriteAll, SurvivesShortWrites) {
  const auto pipe = MakePipe();
  ASSERT_TRUE(pipe.has_value());
  Bytes sent(1U << 20U);  // more than a pipe holds
  for (std::size_t i = 0; i < sent.size(); ++i) {
    sent[i] = static_cast<std::uint8_t>(i * 7);
  }
  std::thread writer([&] { EXPECT_TRUE(WriteAll(pipe->write_end.get(), sent).has_value()); });
  Bytes got(sent.size());
  EXPECT_EQ(ReadFull(pipe->read_end.get(), got), got.size());
  writer.join();
  EXPECT_EQ(got, sent);
}

TEST(WriteAll, TellsAFullDiskFromAnother) {
  const UniqueFd full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  EXPECT_EQ(WriteAll(full.get(), AsBytes("x")).error().code, Code::kLimit);
  EXPECT_EQ(PwriteAll(full.get(), AsBytes("x"), 0).error().code, Code::kLimit);
  EXPECT_EQ(WriteAll(-1, AsBytes("x")).error().os_errno, EBADF);
  EXPECT_TRUE(WriteAll(full.get(), {}).has_value());
}

TEST(WriteAll, AReaderThatIsGoneIsAnError) {
  auto pipe = MakePipe();
  ASSERT_TRUE(pipe.has_value());
  signal(SIGPIPE, SIG_IGN);
  pipe->read_end.Reset();
  const auto written = WriteAll(pipe->write_end.get(), AsBytes("x"));
  EXPECT_EQ(written.error().os_errno, EPIPE);
  EXPECT_EQ(written.error().code, Code::kIo);
  signal(SIGPIPE, SIG_DFL);
}

TEST(Pread, GoesToItsOffsetAndStopsAtTheEnd) {
  const ScratchDir scratch;
  const auto file = scratch.dir().OpenFile("f", O_RDWR | O_CREAT | O_EXCL, 0600);
  ASSERT_TRUE(file.has_value());
  ASSERT_TRUE(PwriteAll(file->get(), AsBytes("world"), 6).has_value());
  ASSERT_TRUE(PwriteAll(file->get(), AsBytes("hello "), 0).has_value());
  Bytes bytes(20);
  EXPECT_EQ(PreadFull(file->get(), bytes, 4), 7U);
  EXPECT_EQ(AsText(std::span(bytes).first(7)), "o world");
  EXPECT_EQ(PreadFull(file->get(), bytes, 11), 0U);
  EXPECT_EQ(PreadFull(file->get(), bytes, 1000), 0U);
  EXPECT_EQ(lseek(file->get(), 0, SEEK_CUR), 0);
  EXPECT_EQ(ReadFull(file->get(), bytes), 11U);
}

TEST(Sync, WorksOnFilesAndSaysWhereItDoesNot) {
  const ScratchDir scratch;
  const auto file = scratch.dir().OpenFile("f", O_RDWR | O_CREAT | O_EXCL, 0600);
  ASSERT_TRUE(file.has_value());
  EXPECT_TRUE(Sync(file->get()).has_value());
  EXPECT_TRUE(SyncData(file->get()).has_value());
  const auto pipe = MakePipe();
  EXPECT_EQ(Sync(pipe->write_end.get()).error().os_errno, EINVAL);
  EXPECT_EQ(SyncData(pipe->write_end.get()).error().os_errno, EINVAL);
}

TEST(StandardDescriptors, AreClaimedWhereTheyAreClosed) {
  EXPECT_EQ(InChild([] {
              close(0);
              close(2);
              if (!ClaimStandardDescriptors()) {
                return std::string("failed");
              }
              struct stat null {};
              struct stat zero {};
              struct stat two {};
              stat("/dev/null", &null);
              const bool good = fstat(0, &zero) == 0 && fstat(2, &two) == 0 &&
                                zero.st_rdev == null.st_rdev && two.st_rdev == null.st_rdev;
              const UniqueFd next(open("/dev/zero", O_RDONLY | O_CLOEXEC));
              return std::string(good && next.get() > 2 ? "ok" : "not claimed");
            }),
            "ok");
}

TEST(StandardDescriptors, AreLeftAloneWhereTheyAreOpen) {
  EXPECT_EQ(InChild([] {
              struct stat before {};
              struct stat after {};
              fstat(1, &before);
              const UniqueFd expected(open("/dev/null", O_RDONLY | O_CLOEXEC));
              const int lowest = expected.get();
              const bool claimed = ClaimStandardDescriptors().has_value();
              fstat(1, &after);
              const UniqueFd next(open("/dev/null", O_RDONLY | O_CLOEXEC));
              return std::string(
                  claimed && before.st_ino == after.st_ino && next.get() == lowest + 1 ? "ok"
                                                                                       : "changed");
            }),
            "ok");
}

}  // namespace
}  // namespace maco

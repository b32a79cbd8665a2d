// Output and input of the target: copied whole, logged up to a limit, never waited for.
// Contract under test: maco-run/supervise/output.h, maco-run/supervise/input.h.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "libcommon/auth/mac.h"
#include "libcommon/base/text.h"
#include "libcommon/os/bounded_read.h"
#include "maco-run/supervise/input.h"
#include "maco-run/supervise/output.h"
#include "tests/unit/scratch_dir.h"

namespace maco::run {
namespace {

class OutputPumpTest : public testing::Test {
 protected:
  OutputPumpTest()
      : source_(*MakePipe()),
        destination_(*MakePipe()),
        log_(*scratch_.dir().OpenFile("log", O_RDWR | O_CREAT, 0600)) {
    signal(SIGPIPE, SIG_IGN);
  }
  ~OutputPumpTest() override { signal(SIGPIPE, SIG_DFL); }

  OutputPump Pump(int destination, std::uint64_t limit) {
    return OutputPump(std::move(source_.read_end), destination, log_.get(), limit);
  }

  void Say(std::string_view text) {
    ASSERT_TRUE(WriteAll(source_.write_end.get(), AsBytes(text)).has_value());
  }

  // Steps as long as the pump has something to do at once.
  static void Drive(OutputPump& pump) {
    for (;;) {
      const auto wait = pump.wait();
      if (!wait) {
        return;
      }
      pollfd ready{wait->fd, wait->events, 0};
      if (poll(&ready, 1, 0) <= 0) {
        return;
      }
      pump.Step();
    }
  }

  std::string Log() const {
    const auto bytes = ReadAllAt(log_.get(), 1U << 20U);
    return bytes ? std::string(AsText(*bytes)) : "(unreadable)";
  }

  std::string Arrived() {
    destination_.write_end.Reset();
    return ReadAll(destination_.read_end.get(), 1U << 20U).value_or("(unreadable)");
  }

  ScratchDir scratch_;
  Pipe source_;
  Pipe destination_;
  UniqueFd log_;
};

TEST_F(OutputPumpTest, CopiesToBothAndEndsWithItsSource) {
  OutputPump pump = Pump(destination_.write_end.get(), 1000);
  Say("hello");
  Drive(pump);
  EXPECT_FALSE(pump.done());
  Say(" world");
  source_.write_end.Reset();
  Drive(pump);
  EXPECT_TRUE(pump.done());
  EXPECT_FALSE(pump.wait().has_value());
  EXPECT_EQ(Arrived(), "hello world");
  EXPECT_EQ(Log(), "hello world");
  EXPECT_EQ(pump.total(), 11U);
  EXPECT_FALSE(pump.truncated());
  EXPECT_EQ(ToHex(pump.digest()), ToHex(Sha256(AsBytes("hello world"))));
}

TEST_F(OutputPumpTest, TheLogIsBoundedAndTheStreamIsNot) {
  OutputPump pump = Pump(destination_.write_end.get(), 7);
  Say("hello");
  Drive(pump);
  EXPECT_FALSE(pump.truncated());
  Say(" world");
  source_.write_end.Reset();
  Drive(pump);
  EXPECT_EQ(Log(), "hello w");
  EXPECT_TRUE(pump.truncated());
  EXPECT_EQ(pump.total(), 11U);
  EXPECT_EQ(Arrived(), "hello world");
  EXPECT_EQ(ToHex(pump.digest()), ToHex(Sha256(AsBytes("hello world"))));
}

TEST_F(OutputPumpTest, ExactlyTheLimitIsNotTruncated) {
  OutputPump pump = Pump(-1, 5);
  Say("hello");
  source_.write_end.Reset();
  Drive(pump);
  EXPECT_FALSE(pump.truncated());
  EXPECT_EQ(Log(), "hello");
}

TEST_F(OutputPumpTest, WithoutADestinationTheLogIsAll) {
  OutputPump pump = Pump(-1, 1000);
  Say("quiet");
  source_.write_end.Reset();
  Drive(pump);
  EXPECT_TRUE(pump.done());
  EXPECT_EQ(Log(), "quiet");
}

TEST_F(OutputPumpTest, AReaderThatStoppedDoesNotStopUs) {
  OutputPump pump = Pump(destination_.write_end.get(), 1U << 20U);
  const std::string piece(50'000, 'x');
  Say(piece);
  Drive(pump);
  Say(piece);
  Drive(pump);  // the destination's pipe is full: this returns all the same
  EXPECT_FALSE(pump.done());
  ASSERT_TRUE(pump.wait().has_value());
  EXPECT_EQ(pump.wait()->events, POLLOUT);
}

TEST_F(OutputPumpTest, AReaderThatIsGoneClosesThePipeOfTheTarget) {
  OutputPump pump = Pump(destination_.write_end.get(), 1000);
  destination_.read_end.Reset();
  Say("to nobody");
  Drive(pump);
  EXPECT_TRUE(pump.done());
  EXPECT_EQ(WriteAll(source_.write_end.get(), AsBytes("x")).error().os_errno, EPIPE);
}

TEST_F(OutputPumpTest, FinishTakesWhatIsThereAndWaitsForNoMore) {
  OutputPump pump = Pump(destination_.write_end.get(), 1000);
  Say("late");
  // The write end stays open, as with a process that was left behind.
  pump.Finish();
  EXPECT_TRUE(pump.done());
  EXPECT_EQ(Arrived(), "late");
  EXPECT_EQ(Log(), "late");
}

TEST_F(OutputPumpTest, ALogThatCannotBeWrittenIsToldAndTheRunGoesOn) {
  log_ = UniqueFd(open("/dev/full", O_WRONLY | O_CLOEXEC));
  OutputPump pump = Pump(destination_.write_end.get(), 1000);
  Say("hello");
  source_.write_end.Reset();
  Drive(pump);
  EXPECT_TRUE(pump.log_failed());
  EXPECT_TRUE(pump.truncated());
  EXPECT_EQ(Arrived(), "hello");
}

// Both ends of a terminal that nobody reads.
struct Terminal {
  UniqueFd master{posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)};
  UniqueFd slave;
  Terminal() {
    grantpt(master.get());
    unlockpt(master.get());
    slave = UniqueFd(open(ptsname(master.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
  }
};

// RUN-10: a write that waits would hold up the deadline and the signals of the run.
TEST_F(OutputPumpTest, ATerminalThatNobodyReadsDoesNotStopUs) {
  const Terminal terminal;
  ASSERT_TRUE(terminal.slave.valid());
  OutputPump pump = Pump(terminal.slave.get(), 1U << 20U);
  const std::string piece(60'000, '\n');  // each takes two bytes of the terminal's room
  Say(piece);
  for (int step = 0; step < 100; ++step) {  // by far more than fits
    pump.Step();
  }
  EXPECT_FALSE(pump.done());
  ASSERT_TRUE(pump.wait().has_value());
  EXPECT_EQ(fcntl(terminal.slave.get(), F_GETFL) & O_NONBLOCK, 0) << "others share it";
}

// Another writer took the room between poll(2) and the write.
TEST_F(OutputPumpTest, APipeThatAnotherWriterFilledDoesNotStopUs) {
  OutputPump pump = Pump(destination_.write_end.get(), 1U << 20U);
  Say("late");
  pump.Step();
  const UniqueFd other(
      open(("/proc/self/fd/" + std::to_string(destination_.write_end.get())).c_str(),
           O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  const std::string filling(1U << 20U, 'x');
  ASSERT_GT(write(other.get(), filling.data(), filling.size()), 0);
  pump.Step();
  EXPECT_FALSE(pump.done());
  EXPECT_TRUE(pump.refused());
  EXPECT_EQ(pump.wait()->fd, -1) << "it would be called ready again and again";
  EXPECT_EQ(fcntl(destination_.write_end.get(), F_GETFL) & O_NONBLOCK, 0) << "others share it";
}

TEST_F(OutputPumpTest, ASocketThatNobodyReadsDoesNotStopUs) {
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  const UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  OutputPump pump = Pump(ours.get(), 16U << 20U);
  for (int round = 0; round < 100; ++round) {
    const std::string piece(60'000, 'x');
    if (!pump.refused()) {
      Say(piece);
    }
    for (int step = 0; step < 20; ++step) {
      pump.Step();
    }
  }
  EXPECT_TRUE(pump.refused());
  EXPECT_EQ(fcntl(ours.get(), F_GETFL) & O_NONBLOCK, 0) << "others share it";
}

// Steps an input pump until it has no more to do at once.
void Drive(InputPump& pump) {
  for (;;) {
    const auto wait = pump.wait();
    if (!wait) {
      return;
    }
    pollfd ready{wait->fd, wait->events, 0};
    if (poll(&ready, 1, 0) <= 0) {
      return;
    }
    pump.Step();
  }
}

TEST(InputPump, CopiesAndClosesAtTheEnd) {
  Pipe ours = *MakePipe();
  Pipe theirs = *MakePipe();
  InputPump pump(ours.read_end.get(), std::move(theirs.write_end));
  ASSERT_TRUE(WriteAll(ours.write_end.get(), AsBytes("line\n")).has_value());
  Drive(pump);
  EXPECT_TRUE(pump.wait().has_value());
  ours.write_end.Reset();
  Drive(pump);
  EXPECT_FALSE(pump.wait().has_value());
  EXPECT_EQ(ReadAll(theirs.read_end.get(), 100), std::string("line\n"));
}

TEST(InputPump, AFileIsCopiedWhole) {
  const ScratchDir scratch;
  const auto file = scratch.dir().OpenFile("f", O_RDWR | O_CREAT, 0600);
  const std::string text(60'000, 'y');
  ASSERT_TRUE(PwriteAll(file->get(), AsBytes(text), 0).has_value());
  Pipe theirs = *MakePipe();
  InputPump pump(file->get(), std::move(theirs.write_end));
  Drive(pump);
  EXPECT_EQ(ReadAll(theirs.read_end.get(), 100'000), text);
}

TEST(InputPump, AClosedDescriptorIsAnEmptyInput) {
  Pipe theirs = *MakePipe();
  InputPump pump(9999, std::move(theirs.write_end));
  EXPECT_FALSE(pump.wait().has_value());
  EXPECT_EQ(ReadAll(theirs.read_end.get(), 100), std::string());
}

TEST(InputPump, ATargetThatDoesNotReadStopsTheCopy) {
  signal(SIGPIPE, SIG_IGN);
  Pipe ours = *MakePipe();
  Pipe theirs = *MakePipe();
  InputPump pump(ours.read_end.get(), std::move(theirs.write_end));
  theirs.read_end.Reset();
  ASSERT_TRUE(WriteAll(ours.write_end.get(), AsBytes("x")).has_value());
  Drive(pump);
  EXPECT_FALSE(pump.wait().has_value());
  signal(SIGPIPE, SIG_DFL);
}

TEST(InputPump, ATargetThatReadsSlowlyDoesNotStopUs) {
  Pipe ours = *MakePipe();
  Pipe theirs = *MakePipe();
  InputPump pump(ours.read_end.get(), std::move(theirs.write_end));
  const std::string piece(60'000, 'z');
  ASSERT_TRUE(WriteAll(ours.write_end.get(), AsBytes(piece)).has_value());
  Drive(pump);
  ASSERT_TRUE(WriteAll(ours.write_end.get(), AsBytes(piece)).has_value());
  Drive(pump);
  EXPECT_TRUE(pump.wait().has_value());
  pump.Stop();
  EXPECT_FALSE(pump.wait().has_value());
}

// Another process that shares our input took the bytes between poll(2) and the read.
TEST(InputPump, InputThatAnotherReaderTookDoesNotStopUs) {
  Pipe ours = *MakePipe();
  Pipe theirs = *MakePipe();
  InputPump pump(ours.read_end.get(), std::move(theirs.write_end));
  pump.Step();
  EXPECT_TRUE(pump.wait().has_value());
  EXPECT_EQ(fcntl(ours.read_end.get(), F_GETFL) & O_NONBLOCK, 0) << "others share it";
  ASSERT_TRUE(WriteAll(ours.write_end.get(), AsBytes("mine")).has_value());
  Drive(pump);
  pump.Stop();
  EXPECT_EQ(ReadAll(theirs.read_end.get(), 100), std::string("mine"));
}

TEST(InputPump, ASocketThatAnotherReaderEmptiedDoesNotStopUs) {
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  const UniqueFd ours(ends[0]);
  const UniqueFd other(ends[1]);
  Pipe theirs = *MakePipe();
  InputPump pump(ours.get(), std::move(theirs.write_end));
  pump.Step();
  EXPECT_TRUE(pump.wait().has_value());
}

}  // namespace
}  // namespace maco::run

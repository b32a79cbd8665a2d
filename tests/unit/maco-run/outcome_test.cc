// How an end is written down, told and turned into an exit status.
// Contract under test: maco-run/record/outcome.h, libcommon/base/exit_code.h.
#include "maco-run/record/outcome.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cerrno>

#include "libcommon/base/exit_code.h"

namespace maco::run {
namespace {

RunSpec Spec() {
  RunSpec spec;
  spec.command = {"make"};
  spec.limits.timeout_seconds = 7;
  return spec;
}

TargetEnd Ended(std::uint32_t wait_status, EndedBy by = EndedBy::kTarget) {
  TargetEnd end;
  end.by = by;
  end.wait_status = wait_status;
  return end;
}

constexpr std::uint32_t Exited(std::uint32_t code) { return code << 8U; }

TEST(Outcome, TheTargetsOwnStatusPassesThrough) {
  for (std::uint32_t code = 0; code < 256; ++code) {
    const TargetEnd end = Ended(Exited(code));
    EXPECT_EQ(OutcomeStatus(end), static_cast<int>(code));
    EXPECT_EQ(DescribeOutcome(end), (Json{{"ended_by", "target"}, {"target", {{"exited", code}}}}));
    EXPECT_FALSE(OutcomeNote(end, Spec()).has_value());
  }
}

TEST(Outcome, ASignalIsASignal) {
  for (const std::uint32_t core : {0U, 0x80U}) {
    const TargetEnd end = Ended(SIGSEGV | core);
    EXPECT_EQ(OutcomeStatus(end), 128 + SIGSEGV);
    EXPECT_EQ(DescribeOutcome(end)["target"], (Json{{"signaled", SIGSEGV}}));
    EXPECT_EQ(OutcomeNote(end, Spec()), "'make' was killed by SIGSEGV");
  }
  // 1 as an exit status and as a signal are told apart by the document, whatever the number.
  EXPECT_NE(DescribeOutcome(Ended(Exited(129))), DescribeOutcome(Ended(SIGHUP)));
}

TEST(Outcome, OurOwnEndsHaveTheirStatuses) {
  EXPECT_EQ(OutcomeStatus(Ended(SIGKILL, EndedBy::kTimeout)), kExitTimedOut);
  EXPECT_EQ(OutcomeStatus(Ended(Exited(0), EndedBy::kTimeout)), kExitTimedOut);
  EXPECT_EQ(OutcomeStatus(Ended(SIGKILL, EndedBy::kMemory)), 128 + SIGKILL);
  TargetEnd interrupted = Ended(SIGTERM, EndedBy::kSignal);
  interrupted.signal = SIGTERM;
  EXPECT_EQ(OutcomeStatus(interrupted), 128 + SIGTERM);
  // A command that catches the signal and ends with 0 was cut short all the same.
  interrupted.wait_status = Exited(0);
  EXPECT_EQ(OutcomeStatus(interrupted), 128 + SIGTERM);
  interrupted.wait_status = Exited(3);
  EXPECT_EQ(OutcomeStatus(interrupted), 3);
  EXPECT_EQ(OutcomeStatus(TargetEnd{}), kExitUnproven);
}

TEST(Outcome, ACommandThatWasNotExecuted) {
  TargetEnd end = Ended(Exited(127));
  end.exec_errno = ENOENT;
  EXPECT_EQ(OutcomeStatus(end), kExitNoCommand);
  EXPECT_EQ(DescribeOutcome(end)["exec_errno"], ENOENT);
  EXPECT_EQ(OutcomeNote(end, Spec()),
            "cannot execute 'make' inside the run: No such file or directory");
  for (const int os_errno : {EACCES, ENOEXEC, E2BIG}) {
    end.exec_errno = os_errno;
    EXPECT_EQ(OutcomeStatus(end), kExitCannotExecute);
  }
}

TEST(Outcome, NotesSayWhyAndWhatToDo) {
  EXPECT_EQ(OutcomeNote(Ended(SIGKILL, EndedBy::kTimeout), Spec()),
            "'make' timed out after 7 s and was ended; --timeout sets the limit");
  const auto memory = OutcomeNote(Ended(SIGKILL, EndedBy::kMemory), Spec());
  ASSERT_TRUE(memory.has_value());
  EXPECT_NE(memory->find("--memory"), std::string::npos);
  TargetEnd interrupted = Ended(SIGINT, EndedBy::kSignal);
  interrupted.signal = SIGINT;
  EXPECT_EQ(OutcomeNote(interrupted, Spec()), "'make' was ended by SIGINT");
  EXPECT_EQ(DescribeOutcome(interrupted)["forwarded_signal"], SIGINT);
  TargetEnd lost;
  lost.by = EndedBy::kLostGuardian;
  EXPECT_TRUE(OutcomeNote(lost, Spec()).has_value());
  EXPECT_FALSE(DescribeOutcome(lost).contains("target"));
}

TEST(Outcome, TheDiskLimitSaysHowMuchTooMuch) {
  RunSpec spec = Spec();
  spec.limits.disk_bytes = 1000;
  TargetEnd end = Ended(SIGKILL, EndedBy::kDisk);
  end.disk_bytes = 1234;
  EXPECT_EQ(
      OutcomeNote(end, spec),
      "'make' took 1234 bytes of disk, 234 more than the limit of 1000, and was ended; --disk "
      "sets the limit");
}

TEST(Outcome, TheTaskLimitIsCounted) {
  EXPECT_EQ(TaskLimitHits({{"pids.events", "max 12"}}), 12U);
  EXPECT_EQ(TaskLimitHits({{"pids.events", "other 3\nmax 4\n"}}), 4U);
  for (const char* text : {"", "max", "max x", "maximum 4"}) {
    EXPECT_EQ(TaskLimitHits({{"pids.events", text}}), 0U) << text;
  }
  EXPECT_EQ(TaskLimitHits(Json::object()), 0U);
}

TEST(Outcome, EachEndHasAName) {
  std::set<std::string> names;
  for (const EndedBy by : {EndedBy::kTarget, EndedBy::kTimeout, EndedBy::kSignal, EndedBy::kMemory,
                           EndedBy::kDisk, EndedBy::kLostGuardian}) {
    names.insert(DescribeOutcome(Ended(0, by))["ended_by"].get<std::string>());
  }
  EXPECT_EQ(names.size(), 6U);
  EXPECT_FALSE(names.contains(""));
}

}  // namespace
}  // namespace maco::run

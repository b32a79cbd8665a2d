// Running a trusted program: its output, its end, and every way in which it does not end by itself.
// Contract under test: libcommon/os/spawn.h.
#include "libcommon/os/spawn.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <cerrno>

#include "libcommon/os/bounded_read.h"
#include "libcommon/os/proc_status.h"
#include "tests/unit/os/in_child.h"
#include "tests/unit/scratch_dir.h"

namespace maco {
namespace {

using std::chrono::milliseconds;

SpawnRequest Shell(const std::string& script) {
  SpawnRequest request;
  request.program = "/bin/sh";
  request.arguments = {"-c", script};
  request.environment = {"PATH=/usr/bin:/bin"};
  return request;
}

TEST(RunProgram, CapturesBothStreamsAndTheStatus) {
  const auto result = RunProgram(Shell("printf out; printf err >&2; exit 7"));
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->output, "out");
  EXPECT_EQ(result->error_output, "err");
  EXPECT_EQ(result->exit_status, 7);
  EXPECT_EQ(result->signal, 0);
}

TEST(RunProgram, TellsASignalFromAStatus) {
  const auto result = RunProgram(Shell("kill -KILL $$"));
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->signal, SIGKILL);
  EXPECT_EQ(result->exit_status, 0);
}

TEST(RunProgram, GivesExactlyTheEnvironmentDirectoryAndArguments) {
  SpawnRequest request;
  request.program = "/bin/sh";
  request.arguments = {"-c", "env; pwd; printf '%s|' \"$@\"", "sh", "a b", "", "$HOME", "*"};
  request.environment = {"ONLY=this one"};
  request.directory = "/proc";
  const auto result = RunProgram(request);
  ASSERT_TRUE(result.has_value()) << result.error().message;
  // The shell adds PWD by itself.
  EXPECT_NE(result->output.find("ONLY=this one\n"), std::string::npos);
  EXPECT_EQ(result->output.find("HOME="), std::string::npos);
  EXPECT_TRUE(result->output.ends_with("/proc\na b||$HOME|*|")) << result->output;
}

TEST(RunProgram, ReadsTheInputThatItIsGiven) {
  SpawnRequest request = Shell("cat");
  // More than a pipe holds, so that nobody has to feed it.
  request.input = std::string(200'000, 'x') + '\0' + "end";
  request.output_limit = 1UL << 20U;
  const auto result = RunProgram(request);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->output, *request.input);
  request.input = "";
  EXPECT_EQ(RunProgram(request)->output, "");
}

TEST(RunProgram, HasAnEmptyInputAndNoDescriptorOfOurs) {
  const UniqueFd ours(open("/dev/null", O_RDONLY));  // not close-on-exec, as a caller may leave it
  const auto result = RunProgram(Shell("cat; exec ls /proc/self/fd"));
  ASSERT_TRUE(result.has_value());
  // 3 is the directory that ls reads.
  EXPECT_EQ(result->output, "0\n1\n2\n3\n");
}

TEST(RunProgram, StartsWithCleanSignals) {
  EXPECT_EQ(InChild([]() -> std::string {
              sigset_t mask;
              sigfillset(&mask);
              sigprocmask(SIG_BLOCK, &mask, nullptr);
              signal(SIGPIPE, SIG_IGN);
              signal(SIGINT, SIG_IGN);
              const auto result = RunProgram(Shell("cat /proc/self/status"));
              const auto fields = result ? ParseStatus(result->output) : Fail(result.error());
              if (!fields) {
                return fields.error().message;
              }
              constexpr unsigned long kAll = 0x7FFFFFFF;  // 32 and 33 are the C library's own
              return std::to_string(std::stoul(fields->at("SigBlk"), nullptr, 16) & kAll) + " " +
                     std::to_string(std::stoul(fields->at("SigIgn"), nullptr, 16) & kAll);
            }),
            "0 0");
}

TEST(RunProgram, TakesMuchOutputOnBothStreams) {
  SpawnRequest request =
      Shell("head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero");
  const auto result = RunProgram(request);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->output.size(), 600'000U);
  EXPECT_EQ(result->error_output.size(), 300'000U);
}

TEST(RunProgram, EndsAProgramThatSaysTooMuch) {
  for (const char* script : {"while :; do echo x; done", "while :; do echo x >&2; done"}) {
    SpawnRequest request = Shell(script);
    request.output_limit = 10'000;
    EXPECT_EQ(RunProgram(request).error().code, Code::kLimit);
  }
  SpawnRequest exact = Shell("head -c 1000 /dev/zero");
  exact.output_limit = 1000;
  EXPECT_EQ(RunProgram(exact)->output.size(), 1000U);
  exact.output_limit = 999;
  EXPECT_EQ(RunProgram(exact).error().code, Code::kLimit);
}

TEST(RunProgram, EndsAProgramThatDoesNot) {
  // Silent, or having closed both streams long before.
  for (const char* script :
       {"sleep 1000", "exec >&- 2>&-; sleep 1000", "trap '' TERM; sleep 1000"}) {
    SpawnRequest request = Shell(std::string("exec sh -c '") + script + "'");
    request.timeout = milliseconds(200);
    const auto result = RunProgram(request);
    ASSERT_FALSE(result.has_value()) << script;
    EXPECT_EQ(result.error().code, Code::kTimeout);
    EXPECT_NE(result.error().message.find("/bin/sh"), std::string::npos);
  }
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
  EXPECT_EQ(errno, ECHILD);
}

TEST(RunProgram, DoesNotWaitForWhatTheProgramLeftBehind) {
  // The background process holds both streams open; its input is a FIFO that we hold.
  auto held = MakePipe();
  ASSERT_TRUE(held.has_value());
  const std::string input =
      "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(held->read_end.get());
  const auto result = RunProgram(Shell("echo done; cat <" + input + " & exit 3"));
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(result->output, "done\n");
  EXPECT_EQ(result->exit_status, 3);
  held->write_end.Reset();
}

TEST(RunProgram, TellsWhatCannotBeExecuted) {
  const ScratchDir scratch;
  SpawnRequest request;
  request.program = scratch.Path("none");
  EXPECT_EQ(RunProgram(request).error().code, Code::kNotFound);
  ASSERT_TRUE(scratch.dir().OpenFile("none", O_WRONLY | O_CREAT, 0600).has_value());
  EXPECT_EQ(RunProgram(request).error().code, Code::kPermission);
  request.program = "/bin/sh";
  request.directory = scratch.Path("nowhere");
  EXPECT_EQ(RunProgram(request).error().code, Code::kNotFound);
}

}  // namespace
}  // namespace maco

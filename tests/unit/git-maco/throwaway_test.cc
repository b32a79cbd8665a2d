// The throw-away repository: private, initialized, and gone in every case.
// Tests git-maco/doctor/throwaway.cc, interruption.cc, run_probe.cc.
#include "git-maco/doctor/throwaway.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>

#include "git-maco/doctor/interruption.h"
#include "git-maco/doctor/probe.h"
#include "libcommon/auth/state_root.h"
#include "libcommon/base/random_id.h"
#include "tests/unit/scratch_dir.h"

namespace maco::doctor {
namespace {

class ThrowawayTest : public ::testing::Test {
 protected:
  ThrowawayTest() { setenv("TMPDIR", scratch_.path().c_str(), 1); }
  ~ThrowawayTest() override { unsetenv("TMPDIR"); }
  bool Empty() const { return std::filesystem::is_empty(scratch_.path()); }
  // A program in maco-run's place.
  std::string Program(const std::string& body) {
    const ScratchDir& dir = programs_;
    std::string path = dir.Path("maco-run");
    FILE* file = fopen(path.c_str(), "w");
    fputs(("#!/bin/sh\n" + body).c_str(), file);
    fclose(file);
    chmod(path.c_str(), 0700);
    return path;
  }
  ScratchDir scratch_;
  ScratchDir programs_;
};

TEST_F(ThrowawayTest, IsAPrivateRepositoryWithState) {
  {
    const auto where = Throwaway::Make();
    ASSERT_TRUE(where) << where.error().message;
    struct stat st {};
    const std::string top = std::filesystem::path(where->path()).parent_path();
    ASSERT_EQ(stat(top.c_str(), &st), 0);
    EXPECT_EQ(st.st_mode & 07777U, 0700U);
    EXPECT_TRUE(IsRandomId(where->state().repository_id()));
    EXPECT_TRUE(std::filesystem::exists(where->path() + "/.git/maco/key"));
  }
  EXPECT_TRUE(Empty());
}

TEST_F(ThrowawayTest, IsGoneAfterTheProbe) {
  const ProbeRun run = RunProbe(Program("pwd; touch left; echo 'maco-run: no' >&2; exit 125\n"));
  EXPECT_EQ(run.failure, "");
  EXPECT_EQ(run.exit_status, 125);
  EXPECT_EQ(run.error_output, "maco-run: no\n");
  EXPECT_FALSE(run.evidence);
  EXPECT_NE(run.evidence_failure, "") << "a path is no evidence";
  EXPECT_TRUE(Empty());
}

TEST_F(ThrowawayTest, IsGoneWhenTheProgramCannotBeExecuted) {
  const ProbeRun run = RunProbe(programs_.Path("nothing"));
  EXPECT_NE(run.failure, "");
  EXPECT_TRUE(Empty());
}

TEST_F(ThrowawayTest, IsGoneBeforeASignalTakesEffect) {
  const std::string program = Program("kill -TERM $PPID\nexit 0\n");
  EXPECT_EXIT(RunProbe(program), ::testing::KilledBySignal(SIGTERM), "");
  EXPECT_TRUE(Empty());
}

TEST_F(ThrowawayTest, AnIgnoredSignalStaysIgnored) {
  signal(SIGHUP, SIG_IGN);
  const ProbeRun run = RunProbe(Program("kill -HUP $PPID\nexit 3\n"));
  signal(SIGHUP, SIG_DFL);
  EXPECT_EQ(run.exit_status, 3);
  EXPECT_TRUE(Empty());
}

TEST_F(ThrowawayTest, TheCallersEnvironmentDoesNotLeadElsewhere) {
  setenv("GIT_DIR", "/nowhere", 1);
  setenv("GIT_CONFIG_COUNT", "1", 1);
  const ProbeRun run =
      RunProbe(Program("test -d .git/maco && test -z \"${GIT_DIR-}${GIT_CONFIG_COUNT-}\"\n"));
  unsetenv("GIT_DIR");
  unsetenv("GIT_CONFIG_COUNT");
  EXPECT_EQ(run.failure, "");
  EXPECT_EQ(run.exit_status, 0);
}

}  // namespace
}  // namespace maco::doctor

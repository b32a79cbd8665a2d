// Facts about processes: texts of /proc, namespaces, pidfds.
// Contract under test: libcommon/os/proc_status.h, proc(5).
#include "libcommon/os/proc_status.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "libcommon/os/bounded_read.h"

namespace maco {
namespace {

TEST(ParseStatus, ReadsFieldsAsTheyAre) {
  const auto fields = ParseStatus("Name:\tsh: x\nUid:\t1\t2\t3\t4\nGroups:\t \nNSpid:\t7\t2\n\n");
  ASSERT_TRUE(fields.has_value());
  EXPECT_EQ(fields->size(), 4U);
  EXPECT_EQ(fields->at("Name"), "sh: x");
  EXPECT_EQ(fields->at("Uid"), "1\t2\t3\t4");
  EXPECT_EQ(fields->at("Groups"), "");
  EXPECT_EQ(fields->at("NSpid"), "7\t2");
  EXPECT_TRUE(ParseStatus("").has_value());
}

TEST(ParseStatus, RefusesWhatTheKernelDoesNotWrite) {
  EXPECT_EQ(ParseStatus("Name\n").error().code, Code::kInvalid);
  EXPECT_EQ(ParseStatus("Seccomp:\t2\nx\n").error().code, Code::kInvalid);
  // A process may choose its name, but not pass a second value for a field by it.
  EXPECT_EQ(ParseStatus("Seccomp:\t2\nSeccomp:\t0\n").error().code, Code::kInvalid);
}

TEST(ParseStatus, ReadsOurOwn) {
  const auto text = ReadPath("/proc/self/status", 1UL << 20U);
  ASSERT_TRUE(text.has_value());
  const auto fields = ParseStatus(*text);
  ASSERT_TRUE(fields.has_value());
  EXPECT_EQ(fields->at("Pid"), std::to_string(getpid()));
  EXPECT_EQ(fields->at("PPid"), std::to_string(getppid()));
  EXPECT_EQ(fields->at("CapEff").size(), 16U);
}

TEST(ParseNamespaceLink, TakesOnlyTheKernelsForm) {
  EXPECT_EQ(ParseNamespaceLink("net:[4026531840]"), 4026531840U);
  for (const std::string bad : {"", "net", "net:", "net:[", "net:[]", "net:[x]", "net:[1", "[1]",
                                "net:[-1]", "net:[1]x", "net:[18446744073709551616]", ":["}) {
    EXPECT_EQ(ParseNamespaceLink(bad).error().code, Code::kInvalid) << bad;
  }
}

TEST(ReadNamespaces, OfOurselvesAndOfNobody) {
  const auto own = ReadNamespaces("/proc/self");
  ASSERT_TRUE(own.has_value());
  EXPECT_EQ(own->size(), 7U);
  for (const char* name : {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"}) {
    EXPECT_GT(own->at(name), 0U) << name;
  }
  EXPECT_EQ(*ReadNamespaces("/proc/" + std::to_string(getpid())), *own);
  EXPECT_EQ(ReadNamespaces("/proc/0").error().code, Code::kNotFound);
}

TEST(Pidfd, KnowsWhetherTheProcessRuns) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  const auto pidfd = OpenPidfd(child);
  ASSERT_TRUE(pidfd.has_value());
  EXPECT_TRUE(PidfdAlive(pidfd->get()));
  kill(child, SIGKILL);
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_FALSE(PidfdAlive(pidfd->get())) << "a zombie does not run";
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(PidfdAlive(pidfd->get()));
  EXPECT_EQ(OpenPidfd(child).error().os_errno, ESRCH);
}

TEST(ParseCgroupV2, FindsTheUnifiedLine) {
  EXPECT_EQ(ParseCgroupV2("0::/a/b.service\n"), "/a/b.service");
  EXPECT_EQ(ParseCgroupV2("12:pids:/x\n1:name=systemd:/y\n0::/\n"), "/");
  EXPECT_EQ(ParseCgroupV2("12:pids:/0::/x\n").error().code, Code::kUnsupported);
  EXPECT_EQ(ParseCgroupV2("").error().code, Code::kUnsupported);
  EXPECT_EQ(ParseCgroupV2("10::/x\n").error().code, Code::kUnsupported);
}

}  // namespace
}  // namespace maco

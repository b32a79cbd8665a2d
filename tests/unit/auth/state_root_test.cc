// Creation, completion after a crash, racing creators, damage, moves and copies of a state root.
// Contract under test: docs/formats/repository.md.
#include "libcommon/auth/state_root.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>

#include "libcommon/base/byte_codec.h"
#include "libcommon/base/random_id.h"
#include "libcommon/os/bounded_read.h"
#include "tests/unit/scratch_dir.h"

namespace maco {
namespace {

namespace fs = std::filesystem;

TEST(StateRoot, InitializesOnceAndOpens) {
  const ScratchDir git;
  EXPECT_EQ(StateRoot::Open(git.dir()).error().code, Code::kNotFound);
  EXPECT_EQ(StateRoot::Missing(git.dir()), true);
  std::string id;
  {
    const auto root = StateRoot::Initialize(git.dir());
    ASSERT_TRUE(root);
    id = root->repository_id();
    EXPECT_TRUE(IsRandomId(id));
    EXPECT_FALSE(root->moved());
  }
  EXPECT_EQ(StateRoot::Missing(git.dir()), false);
  EXPECT_EQ(StateRoot::Initialize(git.dir())->repository_id(), id);
  EXPECT_EQ(StateRoot::Open(git.dir())->repository_id(), id);
  struct stat st {};
  ASSERT_EQ(stat(git.Path("maco").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode, S_IFDIR | 0700U);
  ASSERT_EQ(stat(git.Path("maco/repository").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode, S_IFREG | 0600U);
}

// Each durable step of creation, as a crash right after it leaves the directory.
TEST(StateRoot, CompletesWhatACrashLeft) {
  for (int step = 0; step < 4; ++step) {
    const ScratchDir git;
    ASSERT_EQ(mkdir(git.Path("maco").c_str(), 0700), 0);
    const auto maco = git.dir().Open("maco");
    if (step >= 1) {
      const UniqueFd lock(open(git.Path("maco/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
      ASSERT_TRUE(lock.valid());
    }
    if (step >= 2) {
      const UniqueFd temporary(
          open(git.Path("maco/.tmp-0123").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
      ASSERT_TRUE(temporary.valid());
    }
    if (step >= 3) {
      ASSERT_TRUE(CreateKeyFile(*maco));
    }
    EXPECT_EQ(StateRoot::Open(git.dir()).error().code, Code::kNotFound) << step;
    EXPECT_TRUE(StateRoot::Initialize(git.dir()).has_value()) << step;
    EXPECT_TRUE(StateRoot::Open(git.dir()).has_value()) << step;
    EXPECT_FALSE(fs::exists(git.Path("maco/.tmp-0123")));
  }
}

TEST(StateRoot, NeverReplacesALostKeyOrIdentity) {
  const ScratchDir git;
  ASSERT_TRUE(StateRoot::Initialize(git.dir()));
  ASSERT_EQ(rename(git.Path("maco/key").c_str(), git.Path("key").c_str()), 0);
  EXPECT_EQ(StateRoot::Open(git.dir()).error().code, Code::kCorrupt);
  EXPECT_EQ(StateRoot::Initialize(git.dir()).error().code, Code::kCorrupt);
  ASSERT_EQ(rename(git.Path("key").c_str(), git.Path("maco/key").c_str()), 0);
  ASSERT_EQ(mkdir(git.Path("maco/runs").c_str(), 0700), 0);
  ASSERT_EQ(unlink(git.Path("maco/repository").c_str()), 0);
  EXPECT_EQ(StateRoot::Open(git.dir()).error().code, Code::kCorrupt);
  EXPECT_EQ(StateRoot::Initialize(git.dir()).error().code, Code::kCorrupt);
}

TEST(StateRoot, RefusesAnotherKeysIdentity) {
  const ScratchDir a;
  const ScratchDir b;
  ASSERT_TRUE(StateRoot::Initialize(a.dir()));
  ASSERT_TRUE(StateRoot::Initialize(b.dir()));
  ASSERT_EQ(rename(a.Path("maco/key").c_str(), b.Path("maco/key").c_str()), 0);
  EXPECT_EQ(StateRoot::Open(b.dir()).error().code, Code::kCorrupt);
}

TEST(StateRoot, RefusesOpenOrLinkedDirectories) {
  const ScratchDir git;
  ASSERT_TRUE(StateRoot::Initialize(git.dir()));
  ASSERT_EQ(chmod(git.Path("maco").c_str(), 0750), 0);
  EXPECT_EQ(StateRoot::Open(git.dir()).error().code, Code::kPermission);
  EXPECT_EQ(StateRoot::Initialize(git.dir()).error().code, Code::kPermission);
  ASSERT_EQ(chmod(git.Path("maco").c_str(), 0700), 0);
  ASSERT_EQ(chmod(git.Path("maco/repository").c_str(), 0644), 0);
  EXPECT_EQ(StateRoot::Open(git.dir()).error().code, Code::kPermission);
  ASSERT_EQ(rename(git.Path("maco").c_str(), git.Path("other").c_str()), 0);
  ASSERT_EQ(symlink("other", git.Path("maco").c_str()), 0);
  EXPECT_EQ(StateRoot::Open(git.dir()).error().code, Code::kIo);
  EXPECT_FALSE(StateRoot::Initialize(git.dir()).has_value());
}

TEST(StateRoot, AMovedRepositoryIsRefusedUntilRebound) {
  const ScratchDir scratch;
  ASSERT_EQ(mkdir(scratch.Path("a").c_str(), 0700), 0);
  const std::string id = StateRoot::Initialize(*scratch.dir().Open("a"))->repository_id();
  ASSERT_EQ(rename(scratch.Path("a").c_str(), scratch.Path("b").c_str()), 0);
  const auto b = scratch.dir().Open("b");
  const auto refused = StateRoot::Open(*b);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::kRefused);
  EXPECT_NE(refused.error().remedy.find("git maco journal rebind"), std::string::npos);
  EXPECT_EQ(StateRoot::Initialize(*b).error().code, Code::kRefused);
  EXPECT_TRUE(StateRoot::Open(*b, IfMoved::kReport)->moved());

  const auto rebound = StateRoot::Rebind(*b);
  ASSERT_TRUE(rebound);
  EXPECT_FALSE(rebound->moved());
  EXPECT_EQ(rebound->repository_id(), id);
  EXPECT_EQ(rebound->identity().rebinds, 1U);
  EXPECT_EQ(rebound->identity().previous.path, scratch.Path("a"));
  EXPECT_TRUE(StateRoot::Open(*b));
  EXPECT_EQ(StateRoot::Rebind(*b)->identity().rebinds, 1U) << "nothing left to rebind";
}

TEST(StateRoot, ACopyAtTheOldPathIsRefused) {
  const ScratchDir scratch;
  ASSERT_EQ(mkdir(scratch.Path("a").c_str(), 0700), 0);
  ASSERT_TRUE(StateRoot::Initialize(*scratch.dir().Open("a")));
  fs::copy(scratch.Path("a"), scratch.Path("copy"), fs::copy_options::recursive);
  EXPECT_EQ(StateRoot::Open(*scratch.dir().Open("copy")).error().code, Code::kRefused);
  fs::rename(scratch.Path("a"), scratch.Path("aside"));
  fs::rename(scratch.Path("copy"), scratch.Path("a"));
  EXPECT_EQ(StateRoot::Open(*scratch.dir().Open("a")).error().code, Code::kRefused);
}

TEST(StateRoot, RacingCreatorsAgreeOnOneIdentity) {
  const ScratchDir git;
  constexpr int kProcesses = 8;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const auto root = StateRoot::Initialize(git.dir());
      const std::string out = root ? root->repository_id() : root.error().message;
      const UniqueFd fd(
          open(git.Path("ids").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
      [[maybe_unused]] const auto written = WriteAll(fd.get(), AsBytes(out + "\n"));
      _exit(0);
    }
  }
  while (wait(nullptr) > 0) {
  }
  const std::string id = StateRoot::Open(git.dir())->repository_id();
  std::string expected;
  for (int i = 0; i < kProcesses; ++i) {
    expected += id + "\n";
  }
  EXPECT_EQ(ReadPath(git.Path("ids"), 10'000), expected);
}

}  // namespace
}  // namespace maco

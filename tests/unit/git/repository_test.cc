// Discovery in ordinary, linked, bare, nested, redirected and hostile repositories.
// Contract under test: libcommon/git/repository.h.
#include "libcommon/git/repository.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/unit/git/git_fixture.h"

namespace maco {
namespace {

class RepositoryTest : public GitFixture {
 protected:
  RepositoryTest() { setenv("GIT_CEILING_DIRECTORIES", scratch_.path().c_str(), 1); }
};

TEST_F(RepositoryTest, FindsTheTopFromBelow) {
  const std::string top = MakeRepository("a b");
  std::filesystem::create_directories(top + "/x/y");
  const auto found = FindRepository(top + "/x/y");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->git_dir, top + "/.git");
  EXPECT_EQ(found->common_dir, top + "/.git");
  EXPECT_EQ(found->worktree, top);
  EXPECT_FALSE(found->bare);
}

TEST_F(RepositoryTest, LinkedWorktreesShareTheCommonDirectory) {
  const std::string top = MakeRepository("main");
  Git({"-C", top, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "--allow-empty",
       "-m", "x"});
  Git({"-C", top, "worktree", "add", "-q", scratch_.Path("lane")});
  const auto found = FindRepository(scratch_.Path("lane"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->git_dir, top + "/.git/worktrees/lane");
  EXPECT_EQ(found->common_dir, top + "/.git");
  EXPECT_EQ(found->worktree, scratch_.Path("lane"));
}

TEST_F(RepositoryTest, ABareRepositoryHasNoWorktree) {
  Git({"init", "-q", "--bare", scratch_.Path("bare.git")});
  const auto found = FindRepository(scratch_.Path("bare.git"));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->common_dir, scratch_.Path("bare.git"));
  EXPECT_EQ(found->worktree, "");
  EXPECT_TRUE(found->bare);
}

TEST_F(RepositoryTest, InsideTheGitDirectoryThereIsNoWorktreeEither) {
  const std::string top = MakeRepository("a");
  const auto found = FindRepository(top + "/.git/objects");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->git_dir, top + "/.git");
  EXPECT_EQ(found->worktree, "");
  EXPECT_FALSE(found->bare);
}

TEST_F(RepositoryTest, HonoursGitDirAndWorkTreeOfTheCaller) {
  const std::string top = MakeRepository("a");
  std::filesystem::create_directories(scratch_.Path("tree"));
  setenv("GIT_DIR", (top + "/.git").c_str(), 1);
  setenv("GIT_WORK_TREE", scratch_.Path("tree").c_str(), 1);
  const auto found = FindRepository(scratch_.path());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->git_dir, top + "/.git");
  EXPECT_EQ(found->worktree, scratch_.Path("tree"));
}

TEST_F(RepositoryTest, OtherGitVariablesDoNotCount) {
  const std::string top = MakeRepository("a");
  setenv("GIT_CONFIG_COUNT", "1", 1);
  setenv("GIT_CONFIG_KEY_0", "core.worktree", 1);
  setenv("GIT_CONFIG_VALUE_0", "/", 1);
  setenv("GIT_TRACE", scratch_.Path("trace").c_str(), 1);
  EXPECT_EQ(FindRepository(top)->worktree, top);
  EXPECT_FALSE(std::filesystem::exists(scratch_.Path("trace")));
  for (const char* name :
       {"GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0", "GIT_TRACE"}) {
    unsetenv(name);
  }
}

TEST_F(RepositoryTest, NoRepositoryIsNotFound) {
  const auto none = FindRepository(scratch_.path());
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, Code::kNotFound);
  EXPECT_EQ(none.error().message.find("not a git repository"), 0U);
  EXPECT_FALSE(none.error().remedy.empty());
  EXPECT_EQ(FindRepository(scratch_.Path("missing")).error().code, Code::kNotFound);
  setenv("GIT_DIR", "/nonexistent", 1);
  EXPECT_EQ(FindRepository(scratch_.path()).error().code, Code::kNotFound);
}

TEST_F(RepositoryTest, PathsWithNewlinesAreRefusedClearly) {
  for (const char* name : {"a\nb", "x\ntrue\n", "\n", "a\n/b\nfalse\n/c"}) {
    const std::string top = scratch_.Path(name);
    std::filesystem::create_directories(top);
    Git({"init", "-q", top});
    const auto found = FindRepository(top);
    ASSERT_FALSE(found.has_value()) << name;
    EXPECT_EQ(found.error().code, Code::kInvalid);
    EXPECT_NE(found.error().message.find("newline"), std::string::npos) << found.error().message;
    EXPECT_FALSE(FindRepository(top + "/.git").has_value());
  }
}

TEST_F(RepositoryTest, AnotherOwnersRepositoryIsRefusedWithGitsReason) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "changing an owner needs root";
  }
  const std::string top = MakeRepository("theirs");
  ASSERT_EQ(chown(top.c_str(), 12345, 12345), 0);
  ASSERT_EQ(chown((top + "/.git").c_str(), 12345, 12345), 0);
  const auto found = FindRepository(top);
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, Code::kPermission);
  EXPECT_NE(found.error().message.find("dubious ownership"), std::string::npos);
}

}  // namespace
}  // namespace maco

// What is found without git is what git finds, in plain, odd and hostile layouts.
// Contract under test: libcommon/git/plain_repository.h.
#include "libcommon/git/plain_repository.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "libcommon/base/text.h"
#include "tests/unit/git/git_fixture.h"

namespace maco {
namespace {

namespace fs = std::filesystem;

void Write(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class PlainRepositoryTest : public GitFixture {
 protected:
  // Whether it was found without git; where it was, git says the same.
  static bool Agrees(const std::string& directory) {
    const auto plain = PlainRepository(directory);
    if (!plain) {
      return false;
    }
    const auto asked = FindRepository(directory);
    EXPECT_TRUE(asked) << directory << ": " << (asked ? "" : asked.error().message);
    if (asked) {
      EXPECT_EQ(plain->git_dir, asked->git_dir);
      EXPECT_EQ(plain->common_dir, asked->common_dir);
      EXPECT_EQ(plain->worktree, asked->worktree);
      EXPECT_EQ(plain->bare, asked->bare);
    }
    return true;
  }
};

TEST_F(PlainRepositoryTest, PlainOnesAreFoundFromTheTopAndFromBelow) {
  const std::string top = MakeRepository("a b");
  fs::create_directories(top + "/x/y");
  EXPECT_TRUE(Agrees(top));
  EXPECT_TRUE(Agrees(top + "/x/y"));
  EXPECT_TRUE(Agrees(top + "/x/../x/./y"));
  fs::create_directory_symlink(top + "/x", scratch_.Path("link"));
  EXPECT_TRUE(Agrees(scratch_.Path("link")));
  Git({"-C", top, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "--allow-empty",
       "-m", "x"});
  EXPECT_TRUE(Agrees(top));
  Git({"-C", top, "checkout", "-q", "--detach"});
  EXPECT_TRUE(Agrees(top));
  Git({"-C", top, "remote", "add", "origin", "https://example.org/a.git"});
  Git({"-C", top, "config", "branch.main.merge", "refs/heads/main"});
  EXPECT_TRUE(Agrees(top));
}

TEST_F(PlainRepositoryTest, OfTheCurrentDirectoryToo) {
  const std::string top = MakeRepository("a");
  const fs::path before = fs::current_path();
  fs::current_path(top);
  EXPECT_TRUE(Agrees(""));
  EXPECT_EQ(LocateRepository()->git_dir, top + "/.git");
  fs::current_path(before);
}

TEST_F(PlainRepositoryTest, WhatIsNotPlainIsLeftToGit) {
  const std::string plain = MakeRepository("plain");
  Git({"-C", plain, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "--allow-empty",
       "-m", "x"});
  const std::map<std::string, std::function<std::string()>> layouts = {
      {"bare", [&] { return MakeRepository("bare.git", {"--bare"}); }},
      {"inside the git directory", [&] { return plain + "/.git/objects"; }},
      {"gitfile",
       [&] {
         return MakeRepository("filed", {"--separate-git-dir", scratch_.Path("elsewhere")});
       }},
      {"sha256", [&] { return MakeRepository("sha256", {"--object-format=sha256"}); }},
      {"linked worktree",
       [&] {
         Git({"-C", plain, "worktree", "add", "-q", scratch_.Path("linked")});
         return scratch_.Path("linked");
       }},
      {"core.worktree",
       [&] {
         const std::string top = MakeRepository("moved");
         Git({"-C", top, "config", "core.worktree", "/"});
         return top;
       }},
      {"core.bare beside a worktree",
       [&] {
         const std::string top = MakeRepository("called-bare");
         Git({"-C", top, "config", "core.bare", "true"});
         return top;
       }},
      {"a configuration of the worktree",
       [&] {
         const std::string top = MakeRepository("extended");
         Git({"-C", top, "config", "core.repositoryformatversion", "1"});
         Git({"-C", top, "config", "extensions.worktreeConfig", "true"});
         Git({"-C", top, "config", "--worktree", "core.worktree", "/"});
         return top;
       }},
      {"an unknown extension",
       [&] {
         const std::string top = MakeRepository("unknown");
         Git({"-C", top, "config", "extensions.unheardOf", "true"});
         return top;
       }},
      {"a bare repository's parts in a subdirectory",
       [&] {
         const std::string top = MakeRepository("outer");
         Git({"init", "-q", "--bare", top + "/inner"});
         return top + "/inner";
       }},
      {"a .git that is none, within a repository",
       [&] {
         const std::string top = MakeRepository("around");
         fs::create_directories(top + "/inner/.git");
         return top + "/inner";
       }},
      {"no HEAD",
       [&] {
         const std::string top = MakeRepository("headless");
         fs::remove(top + "/.git/HEAD");
         return top;
       }},
      {"a HEAD that is none",
       [&] {
         const std::string top = MakeRepository("nonsense");
         Write(top + "/.git/HEAD", "nonsense\n");
         return top;
       }},
      {"a linked .git",
       [&] {
         const std::string top = scratch_.Path("linked-git");
         fs::create_directory(top);
         fs::create_directory_symlink(plain + "/.git", top + "/.git");
         return top;
       }},
      {"a commondir",
       [&] {
         const std::string top = MakeRepository("common");
         Write(top + "/.git/commondir", plain + "/.git\n");
         return top;
       }},
      {"objects by a link",
       [&] {
         const std::string top = MakeRepository("objects");
         fs::rename(top + "/.git/objects", top + "/objects");
         fs::create_directory_symlink("../objects", top + "/.git/objects");
         return top;
       }},
      {"a HEAD by a link",
       [&] {
         const std::string top = MakeRepository("head");
         fs::remove(top + "/.git/HEAD");
         fs::create_symlink("refs/heads/main", top + "/.git/HEAD");
         return top;
       }},
      {"a configuration that is too large",
       [&] {
         const std::string top = MakeRepository("large");
         std::ofstream(top + "/.git/config", std::ios::app) << std::string(70000, '\n');
         return top;
       }},
      {"an inclusion",
       [&] {
         const std::string top = MakeRepository("including");
         Git({"-C", top, "config", "include.path", "other"});
         return top;
       }},
      {"a newline in the path", [&] { return MakeRepository("new\nline"); }},
      {"a FIFO for a configuration",
       [&] {
         const std::string top = MakeRepository("fifo");
         fs::remove(top + "/.git/config");
         EXPECT_EQ(mkfifo((top + "/.git/config").c_str(), 0600), 0);
         return top;
       }},
      {"no repository", [&] { return scratch_.path(); }},
      {"no directory", [&] { return scratch_.Path("missing"); }},
  };
  for (const auto& [name, make] : layouts) {
    EXPECT_FALSE(PlainRepository(make())) << name;
  }
  EXPECT_TRUE(Agrees(plain));
}

TEST_F(PlainRepositoryTest, TheCallersVariablesAreLeftToGit) {
  const std::string top = MakeRepository("a");
  for (const char* name : {"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_CEILING_DIRECTORIES",
                           "GIT_DISCOVERY_ACROSS_FILESYSTEM"}) {
    setenv(name, "/", 1);
    EXPECT_FALSE(PlainRepository(top)) << name;
    unsetenv(name);
  }
  EXPECT_TRUE(Agrees(top));
}

TEST_F(PlainRepositoryTest, AnotherOwnersIsLeftToGit) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "changing an owner needs root";
  }
  const std::string top = MakeRepository("theirs");
  EXPECT_TRUE(Agrees(top));
  for (const std::string& path : {top, top + "/.git"}) {
    ASSERT_EQ(chown(path.c_str(), 12345, 12345), 0);
    EXPECT_FALSE(PlainRepository(top)) << path;
    EXPECT_FALSE(FindRepository(top)) << path;
    ASSERT_EQ(chown(path.c_str(), 0, 0), 0);
  }
}

// In a mount namespace of its own, which ends with the child.
TEST_F(PlainRepositoryTest, OtherFileSystemsOnTheWayAreLeftToGit) {
  const std::string top = MakeRepository("a");
  fs::create_directories(top + "/sub/deep");
  for (const char* mounted : {"/sub", "/.git"}) {
    const pid_t child = fork();
    if (child == 0) {
      const int flags = CLONE_NEWNS | (geteuid() == 0 ? 0 : CLONE_NEWUSER);
      bool right = PlainRepository(top + "/sub").has_value() && unshare(flags) == 0 &&
                   mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
      right = right && mount("tmpfs", (top + mounted).c_str(), "tmpfs", 0, nullptr) == 0;
      fs::create_directories(top + "/sub/deep");
      if (right && mounted == std::string("/.git")) {
        Git({"init", "-q", top});
      }
      right = right && !PlainRepository(top + "/sub/deep") && !PlainRepository(top + "/sub");
      _exit(right ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << mounted;
  }
}

// git goes on upwards from a directory whose parts it may not search.
TEST_F(PlainRepositoryTest, PartsThatAreClosedAreLeftToGit) {
  constexpr uid_t kOther = 65534;  // root may search everything
  const std::string top = MakeRepository("outer");
  const std::string inner = MakeRepository("outer/inner");
  if (geteuid() == 0) {
    fs::permissions(scratch_.path(), fs::perms(0755));
    ASSERT_EQ(lchown(top.c_str(), kOther, kOther), 0);
    for (const auto& entry : fs::recursive_directory_iterator(top)) {
      ASSERT_EQ(lchown(entry.path().c_str(), kOther, kOther), 0);
    }
  }
  for (const std::string part : {"/.git/objects", "/.git/refs"}) {
    const pid_t child = fork();
    if (child == 0) {
      bool right = geteuid() != 0 || (setresgid(kOther, kOther, kOther) == 0 &&
                                      setresuid(kOther, kOther, kOther) == 0);
      const auto plain = PlainRepository(inner);
      right = right && plain && plain->git_dir == FindRepository(inner)->git_dir;
      right = right && chmod((inner + part).c_str(), 0600) == 0 && !PlainRepository(inner) &&
              FindRepository(inner)->worktree == top;
      right = chmod((inner + part).c_str(), 0755) == 0 && right;
      _exit(right ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << part;
  }
}

TEST_F(PlainRepositoryTest, AConfigurationThatIsPlainMeansToGitWhatItSays) {
  const std::string top = MakeRepository("a");
  const std::string config = top + "/.git/config";
  const std::string usual = Read(config);
  EXPECT_TRUE(IsPlainConfig(usual));
  const std::vector<std::string> pieces = {"[core]\n",
                                           "[CORE]\n",
                                           "[core \"x\"]\n",
                                           "[core.x]\n",
                                           "[user]\n",
                                           "[extensions]\n",
                                           "[a b]\n",
                                           "[a \"]\"]\n",
                                           "[include]\n",
                                           "[includeIf \"gitdir:/\"]\n",
                                           "\tbare = false\n",
                                           "\tbare = true\n",
                                           "\tbare\n",
                                           "bare=true\n",
                                           "\tBARE = true\n",
                                           "\tworktree = /\n",
                                           "\tWorkTree = /\n",
                                           "worktree=/\n",
                                           "\trepositoryformatversion = 0\n",
                                           "\trepositoryformatversion = 1\n",
                                           "\trepositoryformatversion = 7\n",
                                           "\tnoop = true\n",
                                           "\tpath = /dev/null\n",
                                           "# bare = true\n",
                                           "; [core]\n",
                                           "\tname = a \\\n",
                                           "\tname = a; b\n",
                                           "\tname = \"a\n",
                                           "\tname = \"a\"\n",
                                           "\tname = \xc3\xa9\n",
                                           "[core] bare = true\n",
                                           "[core] # x\n",
                                           "[core]]\n",
                                           "]\n",
                                           "= x\n",
                                           "\tna me = x\n",
                                           "\tname = x\r\n",
                                           "\n",
                                           "\t\n",
                                           std::string("\tname = \0x\n", 11),
                                           "\tname = a = b\n",
                                           "\t1name = x\n",
                                           "\t-x = y\n",
                                           "\xef\xbb\xbf[core]\n",
                                           "\tname =  x \n",
                                           "\tbare = false \n",
                                           "\tbare =  true\n",
                                           "[ core]\n",
                                           "[core ]\n",
                                           "\tname"};
  std::mt19937 random(20261130);
  int plain = 0;
  for (int round = 0; round < 400; ++round) {
    std::string content = round % 2 == 0 ? usual : "";
    for (unsigned i = 0, count = 1 + random() % 4; i < count; ++i) {
      content += pieces[random() % pieces.size()];
    }
    Write(config, content);
    SCOPED_TRACE(EscapeControl(content));
    plain += Agrees(top) ? 1 : 0;
  }
  EXPECT_GT(plain, 20);
}

}  // namespace
}  // namespace maco

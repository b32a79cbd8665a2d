// Repositories in the roots of a run: which paths become read-only, which are hidden, what is
// refused. Contract under test: maco-run/spec/repositories.h, mask.h, path_walk.h, git_link.h.
// Requirements ADM-01, JRN-10, RUN-06.
#include "maco-run/spec/repositories.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "maco-run/spec/mask.h"
#include "maco-run/spec/path_walk.h"
#include "tests/unit/scratch_dir.h"

namespace maco::run {
namespace {

namespace fs = std::filesystem;

class RepositoriesTest : public testing::Test {
 protected:
  RepositoriesTest() { fs::create_directories(scratch_.Path("root")); }

  std::string Path(const std::string& name) const {
    return fs::canonical(scratch_.path()).string() + "/" + name;
  }

  void Write(const std::string& name, const std::string& text = "x") const {
    fs::create_directories(fs::path(Path(name)).parent_path());
    std::ofstream(Path(name)) << text;
  }

  void MakeGitDirectory(const std::string& name) const {
    fs::create_directories(Path(name + "/objects"));
    fs::create_directories(Path(name + "/refs"));
    Write(name + "/HEAD");
  }

  void AddRoot(const std::string& name, bool writable) {
    auto directory = Directory::OpenPath(Path(name));
    ASSERT_TRUE(directory.has_value());
    const auto identity = directory->Identity();
    spec_.roots.push_back({Path(name), writable, *std::move(directory), *identity, true});
  }

  Result<void> Protect() {
    auto scan = ScanRoots(spec_);
    if (!scan) {
      return Fail(std::move(scan).error());
    }
    return ProtectRepositories(*scan, spec_);
  }

  Result<void> Check() {
    const auto scan = ScanRoots(spec_);
    return scan ? CheckRepositories(*scan, spec_) : Fail(scan.error());
  }

  bool IsReadOnly(const std::string& name) const {
    return std::ranges::find(spec_.read_only_inside, Path(name), &ReadOnlyPath::path) !=
           spec_.read_only_inside.end();
  }

  ScratchDir scratch_;
  RunSpec spec_;
};

TEST_F(RepositoriesTest, AGitDirectoryOfAnyNameStaysReadOnly) {
  MakeGitDirectory("root/gd");
  MakeGitDirectory("root/below/bare.git");
  AddRoot("root", true);
  ASSERT_TRUE(Protect().has_value());
  EXPECT_TRUE(IsReadOnly("root/gd"));
  EXPECT_TRUE(IsReadOnly("root/below/bare.git"));
  EXPECT_FALSE(IsWritableInside(spec_, Path("root/gd/config")));
  EXPECT_TRUE(IsWritableInside(spec_, Path("root/below/other")));
  EXPECT_TRUE(Check().has_value());
  MakeGitDirectory("root/late");
  EXPECT_EQ(Check().error().message,
            "'" + Path("root/late") + "' appeared while the run was set up");
}

TEST_F(RepositoriesTest, WhatAGitFileLeadsToStaysReadOnly) {
  fs::create_directories(Path("root/half"));  // not of a git directory's shape
  Write("root/work/.git", "gitdir: ../half\n");
  AddRoot("root", true);
  ASSERT_TRUE(Protect().has_value());
  EXPECT_TRUE(IsReadOnly("root/work/.git"));
  EXPECT_TRUE(IsReadOnly("root/half"));
  EXPECT_TRUE(Check().has_value());
  fs::create_directories(Path("root/other"));
  Write("root/work/.git", "gitdir: ../other\n");
  EXPECT_FALSE(Check().has_value()) << "it leads elsewhere than before";
}

TEST_F(RepositoriesTest, WhatACommonDirLeadsToStaysReadOnly) {
  fs::create_directories(Path("root/common"));
  Write("root/work/.git/commondir", "../../common\n");
  AddRoot("root", true);
  ASSERT_TRUE(Protect().has_value());
  EXPECT_TRUE(IsReadOnly("root/common"));
}

TEST_F(RepositoriesTest, AGitFileThatLeadsOutOfTheWritableRootsIsNoConcern) {
  fs::create_directories(Path("elsewhere"));
  Write("root/a/.git", "gitdir: ../../elsewhere\n");
  Write("root/b/.git", "gitdir: /nowhere/at/all\n");
  Write("root/c/.git", "no link\n");
  AddRoot("root", true);
  ASSERT_TRUE(Protect().has_value());
  EXPECT_FALSE(IsReadOnly("elsewhere"));
}

TEST_F(RepositoriesTest, AWayThatTheRunCouldChangeIsRefused) {
  fs::create_directories(Path("root/gd"));
  fs::create_directory_symlink("gd", Path("root/link"));
  Write("root/work/.git", "gitdir: ../link\n");
  AddRoot("root", true);
  EXPECT_EQ(Protect().error().code, Code::kRefused);
  EXPECT_NE(Protect().error().message.find("/root/link', which the run could replace"),
            std::string::npos);
  // A directory that is only passed: replaced by a link, it would lead elsewhere.
  fs::create_directories(Path("root/detour"));
  Write("root/work/.git", "gitdir: ../detour/../gd\n");
  EXPECT_NE(Protect().error().message.find("/root/detour', which the run could replace"),
            std::string::npos);
  Write("root/work/.git", "gitdir: ../missing\n");
  EXPECT_NE(Protect().error().message.find("could be made by the run"), std::string::npos);
  Write("root/work/.git", "gitdir: ../gd\n");
  EXPECT_TRUE(Protect().has_value());
}

TEST_F(RepositoriesTest, ALinkOutsideTheRootsMayBeOnTheWay) {
  fs::create_directories(Path("root/gd"));
  fs::create_directory_symlink("root", Path("alias"));
  Write("root/work/.git", "gitdir: " + Path("alias/gd") + "\n");
  AddRoot("root", true);
  ASSERT_TRUE(Protect().has_value());
  EXPECT_TRUE(IsReadOnly("root/gd"));
}

TEST_F(RepositoriesTest, ARootThatIsAGitDirectoryIsRefused) {
  MakeGitDirectory("root");
  AddRoot("root", true);
  EXPECT_EQ(Protect().error().code, Code::kRefused);
  spec_.roots.clear();
  AddRoot("root", false);
  EXPECT_TRUE(Protect().has_value());
}

TEST_F(RepositoriesTest, StateRootsAreHiddenInEveryRoot) {
  Write("root/inner/.git/maco/key");
  Write("root/.git/modules/sub/maco/key");
  Write("other/gd/maco/key");
  AddRoot("root", false);
  fs::create_directories(Path("out"));
  AddRoot("other", true);
  ASSERT_TRUE(Protect().has_value());
  for (const char* name : {"root/inner/.git/maco", "root/.git/modules/sub/maco", "other/gd/maco"}) {
    EXPECT_TRUE(IsHidden(spec_, Path(name))) << name;
  }
  EXPECT_TRUE(Check().has_value());
  Write("root/late/.git/maco/key");
  EXPECT_FALSE(Check().has_value());
}

TEST_F(RepositoriesTest, StateRootsOfModulesAreHiddenWhenTheGitDirectoryLiesOutsideTheRoots) {
  Write("git/modules/sub/maco/key");
  Write("git/worktrees/lane/modules/sub/maco/key");
  AddRoot("root", true);
  AddRoot("git", false);
  spec_.roots.back().scan = false;
  ASSERT_TRUE(Protect().has_value());
  EXPECT_TRUE(IsHidden(spec_, Path("git/modules/sub/maco")));
  EXPECT_TRUE(IsHidden(spec_, Path("git/worktrees/lane/modules/sub/maco")));
}

TEST_F(RepositoriesTest, StateRootsThatGitFilesLeadToAreHidden) {
  Write("elsewhere/gd/maco/key");
  Write("root/inner/.git", "gitdir: " + Path("elsewhere/gd") + "\n");
  AddRoot("root", false);
  ASSERT_TRUE(Protect().has_value());
  EXPECT_TRUE(IsHidden(spec_, Path("elsewhere/gd/maco")));
}

TEST_F(RepositoriesTest, StateRootsAroundAPlaceAreFound) {
  MakeGitDirectory("super/.git");
  Write("super/.git/maco/key");
  MakeGitDirectory("super/.git/modules/sub");
  Write("super/sub/.git", "gitdir: ../.git/modules/sub\n");
  fs::create_directories(Path("super/sub/deep"));
  EXPECT_EQ(EnclosingStateRoots({Path("super/sub/deep")}),
            std::vector<std::string>{Path("super/.git/maco")});
  EXPECT_EQ(EnclosingStateRoots({Path("super/.git/modules/sub")}),
            std::vector<std::string>{Path("super/.git/maco")});
  // A linked worktree around it leads to its repository, which lies elsewhere.
  MakeGitDirectory("far/.git");
  Write("far/.git/maco/key");
  Write("far/.git/worktrees/lane/HEAD");
  Write("far/.git/worktrees/lane/commondir", "../..\n");
  Write("lane/.git", "gitdir: " + Path("far/.git/worktrees/lane") + "\n");
  fs::create_directories(Path("lane/inner"));
  EXPECT_EQ(EnclosingStateRoots({Path("lane/inner")}),
            std::vector<std::string>{Path("far/.git/maco")});
  // A directory of that name is no state root where git would see no git directory.
  Write("plain/maco/key");
  fs::create_directories(Path("plain/project"));
  EXPECT_TRUE(EnclosingStateRoots({Path("plain/project")}).empty());
}

TEST_F(RepositoriesTest, MoreMountsThanAUnitTakesAreRefusedAtOnce) {
  for (int i = 0; i < 100; ++i) {
    fs::create_directories(Path("root/a" + std::to_string(i) + "/b/c/d/e/f/.git"));
  }
  AddRoot("root", true);
  ASSERT_TRUE(Protect().has_value());
  const auto held = HoldDirectoriesAbove(spec_);
  ASSERT_FALSE(held.has_value());
  EXPECT_EQ(held.error().code, Code::kLimit);
  EXPECT_FALSE(held.error().remedy.empty());
}

TEST_F(RepositoriesTest, DirectoriesAboveAProtectedOneAreHeld) {
  fs::create_directories(Path("root/a/b/.git"));
  AddRoot("root", true);
  ASSERT_TRUE(Protect().has_value());
  ASSERT_TRUE(HoldDirectoriesAbove(spec_).has_value());
  std::vector<std::string> binds;
  for (const auto& bind : spec_.binds) {
    binds.push_back(bind.target);
  }
  std::ranges::sort(binds);
  EXPECT_EQ(binds, (std::vector<std::string>{Path("root/a"), Path("root/a/b")}));
}

}  // namespace
}  // namespace maco::run

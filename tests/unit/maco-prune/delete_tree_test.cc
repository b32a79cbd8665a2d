// Deletion of one tree of the quarantine. Tests maco-prune/delete_tree.cc, obstacle.cc.
#include "maco-prune/delete_tree.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "maco-prune/obstacle.h"
#include "tests/unit/scratch_dir.h"

namespace maco::prune {
namespace {

namespace fs = std::filesystem;

class DeleteTreeTest : public ::testing::Test {
 protected:
  DeleteTreeTest() {
    fs::create_directories(scratch_.Path("outside/d"));
    Write("outside/d/sentinel");
    quarantine_ = *scratch_.dir().Create("quarantine", 0700);
    fs::create_directories(At("x/a/b"));
    fs::create_directories(At("x/c"));
    for (const char* name : {"x/1", "x/a/2", "x/a/b/3", "x/c/4"}) {
      Write(std::string("quarantine/") + name);
    }
  }
  void Write(const std::string& name) const { std::ofstream(scratch_.Path(name)) << "text"; }
  std::string At(const std::string& name) const { return scratch_.Path("quarantine/" + name); }
  std::uint64_t Inode(const std::string& name) const { return quarantine_.Stat(name)->inode; }
  Result<Deleted> Delete(Names names = Names::kPlainOnly) const {
    return DeleteTree(quarantine_, "x", Inode("x"), names);
  }
  std::string Code(const Result<Deleted>& result) const {
    return result ? "" : result.error().message;
  }

  ScratchDir scratch_;
  Directory quarantine_;
};

TEST_F(DeleteTreeTest, Counts) {
  const auto done = Delete();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->files, 4U);
  EXPECT_EQ(done->directories, 4U);
  EXPECT_FALSE(fs::exists(At("x")));
  EXPECT_TRUE(DeleteTree(quarantine_, "x", 5, Names::kPlainOnly)) << "nothing is no error";
}

TEST_F(DeleteTreeTest, OnlyThatDirectory) {
  const auto done = DeleteTree(quarantine_, "x", Inode("x") + 1, Names::kPlainOnly);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, maco::Code::kCorrupt);
  EXPECT_TRUE(fs::exists(At("x/1")));
}

TEST_F(DeleteTreeTest, WhatIsNotPlainStopsItOrGoesAlone) {
  fs::create_symlink(scratch_.Path("outside/d"), At("x/link"));
  fs::create_hard_link(scratch_.Path("outside/d/sentinel"), At("x/hard"));
  ASSERT_EQ(mkfifo(At("x/fifo").c_str(), 0600), 0);
  EXPECT_NE(FindObstacle(quarantine_, "x"), "");
  const auto stopped = Delete();
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, maco::Code::kRefused);
  const auto done = Delete(Names::kAny);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_FALSE(fs::exists(At("x")));
  EXPECT_EQ(fs::hard_link_count(scratch_.Path("outside/d/sentinel")), 1U);
}

TEST_F(DeleteTreeTest, ObstaclesAreFoundWithoutAChange) {
  EXPECT_EQ(FindObstacle(quarantine_, "x"), "");
  EXPECT_EQ(FindObstacle(quarantine_, "nothing"), "");
  fs::create_symlink("/", At("x/a/b/l"));
  EXPECT_EQ(FindObstacle(quarantine_, "x"), "'l' is no plain file");
  EXPECT_TRUE(fs::exists(At("x/a/b/3")));
}

TEST_F(DeleteTreeTest, AnythingCanBeDiscarded) {
  fs::create_symlink(scratch_.Path("outside/d"), At("link"));
  Write("quarantine/file");
  for (const char* name : {"link", "file", "x"}) {
    EXPECT_TRUE(DeleteTree(quarantine_, name, 0, Names::kAny)) << name;
  }
  EXPECT_TRUE(quarantine_.List(10)->empty());
  EXPECT_TRUE(fs::exists(scratch_.Path("outside/d/sentinel")));
}

TEST_F(DeleteTreeTest, ClosedDirectoriesAreOpened) {
  chmod(At("x/a/b").c_str(), 0555);
  chmod(At("x/a").c_str(), 0);
  chmod(At("x").c_str(), 0100);
  EXPECT_TRUE(Delete());
  EXPECT_FALSE(fs::exists(At("x")));
}

TEST_F(DeleteTreeTest, DeepOnesGoInParts) {
  Directory at = *quarantine_.Open("x");
  for (int i = 0; i < 3000; ++i) {
    at = *at.Create("d", 0700);
    if (i % 10 == 0) {
      ASSERT_TRUE(at.Create("e", 0));
    }
  }
  const auto done = Delete();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->directories, 4U + 3000 + 300);
  EXPECT_TRUE(quarantine_.List(10)->empty());
}

TEST_F(DeleteTreeTest, ManyThatAreDeepGoInPortions) {
  Directory at = *quarantine_.Open("x");
  for (int i = 0; i < 20; ++i) {
    at = *at.Create("d", 0700);
  }
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(at.Create("d" + std::to_string(i), 0700));
  }
  const auto done = Delete();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->directories, 4U + 1020);
  EXPECT_TRUE(quarantine_.List(10)->empty());
}

TEST_F(DeleteTreeTest, PartsOfAnEarlierAttemptBelongToIt) {
  const std::uint64_t inode = Inode("x");
  fs::rename(At("x/a"), At("a"));
  fs::rename(At("a"), At("x+" + std::to_string(Inode("a"))));
  Write("quarantine/x+junk");
  fs::create_directory(At("xy"));
  ASSERT_TRUE(DeleteTree(quarantine_, "x", inode, Names::kPlainOnly));
  EXPECT_EQ(quarantine_.List(10)->size(), 2U) << "what is not of it stays";
  fs::create_directory(At("x+1"));
  EXPECT_FALSE(DeleteTree(quarantine_, "x", inode, Names::kPlainOnly)) << "another inode";
  EXPECT_TRUE(DeleteTree(quarantine_, "x", inode, Names::kAny));
}

}  // namespace
}  // namespace maco::prune

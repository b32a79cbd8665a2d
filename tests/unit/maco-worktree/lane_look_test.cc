// Looks at a directory: what is new, changed or gone, and whether a later change would show.
#include "maco-worktree/lane_look.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "tests/unit/scratch_dir.h"

namespace maco::worktree {
namespace {

class LaneLookTest : public ::testing::Test {
 protected:
  LaneLookTest() {
    lane_ = scratch_.path() + "/lane";
    std::filesystem::create_directories(lane_ + "/dir/below");
  }
  void Write(const std::string& path, const std::string& text) const {
    std::ofstream(lane_ + "/" + path, std::ios::trunc) << text;
  }
  // By an index that has nothing.
  Look LookNow() const {
    const std::string path = scratch_.path() + "/index";
    const std::string words("\0\0\0\2\0\0\0\0", 8);
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        << "DIRC" << words << std::string(20, 'x');
    const auto index = BaseIndex::Read(path, 20);
    EXPECT_TRUE(index.has_value());
    auto look = LookAtLane(lane_, *index, false);
    EXPECT_TRUE(look.has_value());
    return *std::move(look);
  }
  ScratchDir scratch_;
  std::string lane_;
};

std::vector<std::string> Paths(const std::vector<Seen>& list) {
  std::vector<std::string> out;
  for (const auto& seen : list) {
    out.push_back(seen.path);
  }
  return out;
}

TEST_F(LaneLookTest, NewFilesAndDirectoriesAreNamedInOrder) {
  Write("z", "1");
  Write("dir/below/f", "2");
  Write(".git", "not looked at");
  EXPECT_EQ(Paths(LookNow().fresh),
            (std::vector<std::string>{"dir/", "dir/below/", "dir/below/f", "z"}));
}

TEST_F(LaneLookTest, AChangeBetweenTwoLooksShowsEvenIfSizeAndTimeAreRestored) {
  Write("dir/f", "one");
  const Look first = LookNow();
  std::vector<const Seen*> files;
  for (const auto& seen : first.fresh) {
    if (seen.path == "dir/f") {
      files.push_back(&seen);
    }
  }
  ASSERT_EQ(files.size(), 1U);
  WaitUntilOlder(files);
  const Look second = LookNow();
  EXPECT_EQ(first.fresh, second.fresh);
  EXPECT_TRUE(ShowsChanges(second, files));
  Write("dir/f", "two");
  const std::array<timespec, 2> times{files.front()->st.st_atim, files.front()->st.st_mtim};
  ASSERT_EQ(utimensat(AT_FDCWD, (lane_ + "/dir/f").c_str(), times.data(), 0), 0);
  EXPECT_NE(LookNow().fresh, second.fresh);
}

TEST_F(LaneLookTest, AFileAsYoungAsTheLookHidesWhatComesAfterIt) {
  Look look;
  look.began = {100, 50};
  Seen seen{"f", {}};
  const std::vector<const Seen*> files{&seen};
  seen.st.st_ctim = {100, 49};
  EXPECT_TRUE(ShowsChanges(look, files));
  seen.st.st_ctim = {100, 50};
  EXPECT_FALSE(ShowsChanges(look, files));
  seen.st.st_ctim = {100, 0};  // of a file system that keeps whole seconds
  EXPECT_FALSE(ShowsChanges(look, files));
  seen.st.st_ctim = {99, 0};
  EXPECT_TRUE(ShowsChanges(look, files));
}

TEST_F(LaneLookTest, ManyDirectoriesAreAllRead) {
  constexpr int kDirectories = 300;
  for (int i = 0; i < kDirectories; ++i) {
    std::filesystem::create_directory(lane_ + "/d" + std::to_string(i));
    Write("d" + std::to_string(i) + "/f", "x");
  }
  EXPECT_EQ(LookNow().fresh.size(), 2U * kDirectories + 2);
}

TEST_F(LaneLookTest, FindingsHaveAnEnd) {
  for (int i = 0; i < 150; ++i) {
    ASSERT_EQ(mkfifo((lane_ + "/dir/pipe" + std::to_string(i)).c_str(), 0600), 0);
  }
  EXPECT_EQ(LookNow().findings.size(), 100U);
}

}  // namespace
}  // namespace maco::worktree

// The digest of a tree sees what a step may change, and nothing else.
// Contract under test: docs/formats/step.md ("The state of a worktree").
#include "libcommon/state/tree_digest.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "libcommon/base/text.h"
#include "tests/unit/scratch_dir.h"

namespace maco {
namespace {

namespace fs = std::filesystem;

class Tree : public ::testing::Test {
 protected:
  Tree() {
    fs::create_directories(scratch_.Path("d/e"));
    Write("d/file", "content");
    Write("d/e/deep", "");
    fs::create_symlink("file", scratch_.Path("d/link"));
  }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(scratch_.Path(name)) << text;
  }
  std::string Of(const std::string& excluded = {}) const {
    const auto tree = DigestTree(scratch_.dir(), 100, excluded);
    EXPECT_TRUE(tree) << tree.error().message;
    return tree ? ToHex(tree->digest) : "";
  }
  ScratchDir scratch_;
};

TEST_F(Tree, EachChangeIsSeen) {
  const std::vector<std::function<void()>> changes = {
      [this] { Write("d/file", "Content"); },
      [this] { chmod(scratch_.Path("d/file").c_str(), 0700); },
      [this] { fs::rename(scratch_.Path("d/file"), scratch_.Path("d/File")); },
      [this] { fs::remove(scratch_.Path("d/link")); },
      [this] { fs::create_symlink("d/file", scratch_.Path("d/link")); },
      [this] { fs::create_directory(scratch_.Path("empty")); },
      [this] { fs::rename(scratch_.Path("d/e/deep"), scratch_.Path("d/deep")); },
      [this] { Write("d/.git", "not in the root"); },
      [this] { ASSERT_EQ(mkfifo(scratch_.Path("fifo").c_str(), 0600), 0); }};
  std::string before = Of();
  for (std::size_t i = 0; i < changes.size(); ++i) {
    changes[i]();
    const std::string after = Of();
    EXPECT_NE(before, after) << i;
    before = after;
  }
}

TEST_F(Tree, TimesInodesAndTheGitDirectoryDoNotCount) {
  const std::string before = Of();
  Write("d/copy", "content");
  fs::rename(scratch_.Path("d/copy"), scratch_.Path("d/file"));  // another inode
  const timeval times[2] = {{1, 0}, {1, 0}};
  ASSERT_EQ(utimes(scratch_.Path("d/file").c_str(), times), 0);
  fs::create_directory(scratch_.Path(".git"));
  EXPECT_EQ(Of(), before);
}

TEST_F(Tree, TheExcludedFileDoesNotCount) {
  const std::string before = Of("d/out");
  Write("d/out", "result");
  EXPECT_EQ(Of("d/out"), before);
  EXPECT_NE(Of(), before);
}

TEST_F(Tree, NamesAndContentDoNotRunIntoEachOther) {
  const ScratchDir a;
  const ScratchDir b;
  std::ofstream(a.Path("ab")) << "c";
  std::ofstream(b.Path("a")) << "bc";
  EXPECT_NE(ToHex(DigestTree(a.dir(), 10)->digest), ToHex(DigestTree(b.dir(), 10)->digest));
}

TEST_F(Tree, Limits) {
  EXPECT_EQ(DigestTree(scratch_.dir(), 4).error().code, Code::kLimit);
  EXPECT_EQ(DigestTree(scratch_.dir(), 5)->entries, 5U);
}

}  // namespace
}  // namespace maco

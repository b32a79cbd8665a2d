// Publication of whole files: all or nothing, whoever has the name meanwhile.
// Contract under test: libcommon/os/atomic_file.h.
#include "libcommon/os/atomic_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "libcommon/os/bounded_read.h"
#include "tests/unit/os/in_child.h"
#include "tests/unit/scratch_dir.h"

namespace maco {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMany = 100;

std::string Content(const ScratchDir& scratch, const std::string& name) {
  const auto text = ReadPath(scratch.Path(name), 1000);
  return text ? *text : "(" + text.error().message + ")";
}

TEST(AtomicFile, CommitPublishesIt) {
  const ScratchDir scratch;
  auto file = AtomicFile::Create(scratch.dir(), "f");
  ASSERT_TRUE(file.has_value());
  ASSERT_TRUE(WriteAll(file->fd(), AsBytes("new")).has_value());
  EXPECT_FALSE(fs::exists(scratch.Path("f")));
  ASSERT_TRUE(file->Commit().has_value());
  EXPECT_EQ(Content(scratch, "f"), "new");
  EXPECT_EQ(scratch.dir().Stat("f")->mode, S_IFREG | 0600U);
  EXPECT_EQ(scratch.dir().List(kMany)->size(), 1U);
}

TEST(AtomicFile, CommitReplacesWhatIsThere) {
  const ScratchDir scratch;
  ASSERT_TRUE(WriteAtomically(scratch.dir(), "f", AsBytes("old")).has_value());
  const auto old = scratch.dir().Stat("f");
  ASSERT_TRUE(WriteAtomically(scratch.dir(), "f", AsBytes("new")).has_value());
  EXPECT_EQ(Content(scratch, "f"), "new");
  EXPECT_FALSE(scratch.dir().Stat("f")->SameFile(*old));
}

TEST(AtomicFile, ALinkIsReplacedAndNotFollowed) {
  const ScratchDir scratch;
  ASSERT_TRUE(WriteAtomically(scratch.dir(), "victim", AsBytes("old")).has_value());
  fs::create_symlink("victim", scratch.Path("f"));
  ASSERT_TRUE(WriteAtomically(scratch.dir(), "f", AsBytes("new")).has_value());
  EXPECT_EQ(Content(scratch, "victim"), "old");
  EXPECT_EQ(Content(scratch, "f"), "new");
  EXPECT_FALSE(fs::is_symlink(scratch.Path("f")));
}

TEST(AtomicFile, WithoutACommitNothingIsLeft) {
  const ScratchDir scratch;
  ASSERT_TRUE(WriteAtomically(scratch.dir(), "f", AsBytes("old")).has_value());
  {
    auto file = AtomicFile::Create(scratch.dir(), "f");
    ASSERT_TRUE(file.has_value());
    ASSERT_TRUE(WriteAll(file->fd(), AsBytes("half")).has_value());
    EXPECT_EQ(scratch.dir().List(kMany)->size(), 2U);
    const AtomicFile moved(std::move(*file));
    EXPECT_EQ(scratch.dir().List(kMany)->size(), 2U);
  }
  EXPECT_EQ(Content(scratch, "f"), "old");
  EXPECT_EQ(scratch.dir().List(kMany)->size(), 1U);
}

TEST(AtomicFile, CommitNewNeverReplaces) {
  const ScratchDir scratch;
  auto first = AtomicFile::Create(scratch.dir(), "f");
  ASSERT_TRUE(WriteAll(first->fd(), AsBytes("first")).has_value());
  ASSERT_TRUE(first->CommitNew().has_value());
  for (const char* name : {"f", "link", "d"}) {
    fs::remove(scratch.Path("link"));
    fs::create_symlink("nowhere", scratch.Path("link"));
    fs::create_directory(scratch.Path("d"));
    auto second = AtomicFile::Create(scratch.dir(), name);
    ASSERT_TRUE(WriteAll(second->fd(), AsBytes("second")).has_value());
    EXPECT_EQ(second->CommitNew().error().code, Code::kExists) << name;
  }
  EXPECT_EQ(Content(scratch, "f"), "first");
  EXPECT_FALSE(fs::exists(scratch.Path("nowhere")));
  EXPECT_EQ(scratch.dir().List(kMany)->size(), 3U);
}

TEST(AtomicFile, ACommitThatFailsLeavesTheOld) {
  const ScratchDir scratch;
  ASSERT_TRUE(scratch.dir().Create("f", 0700).has_value());
  ASSERT_TRUE(scratch.dir().Create("f/x", 0700).has_value());
  EXPECT_FALSE(WriteAtomically(scratch.dir(), "f", AsBytes("new")).has_value());
  EXPECT_EQ(scratch.dir().List(kMany)->size(), 1U);
}

TEST(AtomicFile, ADirectoryThatCannotBeWrittenIsAnError) {
  const ScratchDir scratch;
  fs::permissions(scratch.path(), fs::perms::owner_all | fs::perms::others_exec);
  ASSERT_TRUE(scratch.dir().Create("closed", 0700).has_value());
  fs::permissions(scratch.Path("closed"), fs::perms::owner_read | fs::perms::others_read |
                                              fs::perms::owner_exec | fs::perms::others_exec);
  EXPECT_EQ(InChild([&]() -> std::string {
              const auto closed = Directory::OpenPath(scratch.Path("closed"));
              if (!closed || !BecomeOrdinaryUser()) {
                return "no ordinary user";
              }
              const auto file = AtomicFile::Create(*closed, "f");
              return file ? "created" : std::string(CodeName(file.error().code));
            }),
            "permission");
}

}  // namespace
}  // namespace maco

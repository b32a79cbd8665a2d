// Index files of git, made byte by byte: what is read of them, and what makes an entry believed.
#include "maco-worktree/base_index.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <fstream>

#include "tests/unit/scratch_dir.h"

namespace maco::worktree {
namespace {

constexpr std::size_t kHash = 20;
constexpr std::uint32_t kFile = 0100644;

std::string Word(std::uint32_t value) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) {
    out += static_cast<char>(value >> static_cast<unsigned>(shift) & 0xffU);
  }
  return out;
}

// The fields of lstat in the order of the file: ctime, mtime, dev, ino, mode, uid, gid, size.
using Stat = std::array<std::uint32_t, 10>;
constexpr Stat kStat = {100, 7, 90, 8, 1, 42, kFile, 1000, 1001, 5};

std::string EntryOf(const std::string& path, const Stat& stat) {
  std::string out;
  for (const std::uint32_t word : stat) {
    out += Word(word);
  }
  out += std::string(kHash, '\x11');
  out += static_cast<char>(path.size() >> 8U);
  out += static_cast<char>(path.size() & 0xffU);
  out += path;
  return out + std::string(8 - out.size() % 8, '\0');
}

std::string TreeOf(const std::string& count) {
  const std::string body = std::string(1, '\0') + count + " 0\n" + std::string(kHash, '\xab');
  return "TREE" + Word(static_cast<std::uint32_t>(body.size())) + body;
}

std::string IndexOf(const std::vector<std::string>& entries, const std::string& extensions,
                    std::uint32_t version = 2) {
  std::string out = "DIRC" + Word(version) + Word(static_cast<std::uint32_t>(entries.size()));
  for (const auto& entry : entries) {
    out += entry;
  }
  return out + extensions + std::string(kHash, '\x22');
}

struct stat Seen() {
  struct stat st {};
  st.st_ctim = {100, 7};
  st.st_mtim = {90, 8};
  st.st_ino = 42;
  st.st_mode = kFile;
  st.st_uid = 1000;
  st.st_gid = 1001;
  st.st_size = 5;
  return st;
}

class BaseIndexTest : public ::testing::Test {
 protected:
  Result<BaseIndex> Read(const std::string& bytes, timespec written = {200, 0}) {
    const std::string path = scratch_.path() + "/index";
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    const std::array<timespec, 2> times{written, written};
    EXPECT_EQ(utimensat(AT_FDCWD, path.c_str(), times.data(), 0), 0);
    return BaseIndex::Read(path, kHash);
  }
  ScratchDir scratch_;
};

TEST_F(BaseIndexTest, EntriesAndTreeAreRead) {
  const auto index = Read(IndexOf({EntryOf("a", kStat), EntryOf("dir/b", kStat)}, TreeOf("2")));
  ASSERT_TRUE(index.has_value());
  ASSERT_EQ(index->size(), 2U);
  EXPECT_EQ(index->PathOf(1), "dir/b");
  EXPECT_EQ(index->ModeOf(1), kFile);
  EXPECT_EQ(index->Find("dir/b"), 1U);
  EXPECT_FALSE(index->Find("dir"));
  EXPECT_TRUE(index->HasBelow("dir"));
  EXPECT_FALSE(index->HasBelow("di"));
  EXPECT_FALSE(index->HasBelow("a"));
  std::string tree;
  for (std::size_t i = 0; i < kHash; ++i) {
    tree += "ab";
  }
  EXPECT_EQ(index->tree(), tree);
}

TEST_F(BaseIndexTest, ATreeThatGitHasNotNotedIsNone) {
  const auto index = Read(IndexOf({EntryOf("a", kStat)}, TreeOf("-1")));
  ASSERT_TRUE(index.has_value());
  EXPECT_EQ(index->tree(), "");
}

TEST_F(BaseIndexTest, AnIndexThatEndsEarlyIsRefusedWhereverItEnds) {
  const std::string whole = IndexOf({EntryOf("a", kStat), EntryOf("dir/b", kStat)}, "");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto index = Read(whole.substr(0, size));
    ASSERT_FALSE(index.has_value()) << size;
    EXPECT_EQ(index.error().code, Code::kCorrupt) << size;
  }
}

TEST_F(BaseIndexTest, WhatItDoesNotKnowIsRefused) {
  const auto version = Read(IndexOf({EntryOf("a", kStat)}, "", 4));
  ASSERT_FALSE(version.has_value());
  EXPECT_EQ(version.error().code, Code::kUnsupported);
  const auto split = Read(IndexOf({EntryOf("a", kStat)}, "link" + Word(0)));
  ASSERT_FALSE(split.has_value());
  EXPECT_EQ(split.error().code, Code::kUnsupported);
}

TEST_F(BaseIndexTest, AFileIsUnchangedOnlyIfEveryFieldSaysSo) {
  const auto index = Read(IndexOf({EntryOf("a", kStat)}, ""));
  ASSERT_TRUE(index.has_value());
  EXPECT_TRUE(index->IsUnchanged(0, Seen()));
  const auto with = [&](auto change) {
    struct stat st = Seen();
    change(st);
    return index->IsUnchanged(0, st);
  };
  EXPECT_FALSE(with([](struct stat& st) { ++st.st_ctim.tv_sec; }));
  EXPECT_FALSE(with([](struct stat& st) { ++st.st_ctim.tv_nsec; }));
  EXPECT_FALSE(with([](struct stat& st) { --st.st_mtim.tv_sec; }));
  EXPECT_FALSE(with([](struct stat& st) { ++st.st_mtim.tv_nsec; }));
  EXPECT_FALSE(with([](struct stat& st) { ++st.st_ino; }));
  EXPECT_FALSE(with([](struct stat& st) { ++st.st_uid; }));
  EXPECT_FALSE(with([](struct stat& st) { ++st.st_gid; }));
  EXPECT_FALSE(with([](struct stat& st) { ++st.st_size; }));
  EXPECT_FALSE(with([](struct stat& st) { st.st_mode |= 0100U; }));
  EXPECT_FALSE(with([](struct stat& st) { st.st_mode = S_IFLNK | 0777U; }));
}

TEST_F(BaseIndexTest, WhatIsAsYoungAsTheIndexIsNotBelieved) {
  const std::string bytes = IndexOf({EntryOf("a", kStat)}, "");
  for (const timespec written : {timespec{100, 7}, timespec{100, 6}, timespec{90, 0}}) {
    const auto index = Read(bytes, written);
    ASSERT_TRUE(index.has_value());
    EXPECT_FALSE(index->IsUnchanged(0, Seen()));
  }
  const auto index = Read(bytes, {100, 8});
  ASSERT_TRUE(index.has_value());
  EXPECT_TRUE(index->IsUnchanged(0, Seen()));
}

}  // namespace
}  // namespace maco::worktree

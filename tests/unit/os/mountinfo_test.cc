// The mount table: strict parsing, and the mount that a path leads to, as the kernel walks it.
// Contract under test: libcommon/os/mountinfo.h, proc(5).
#include "libcommon/os/mountinfo.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "libcommon/os/directory.h"
#include "tests/unit/os/in_child.h"
#include "tests/unit/scratch_dir.h"

namespace maco {
namespace {

constexpr char kRoot[] = "2 1 8:1 / / ro - ext4 /dev/sda1 rw\n";

MountTable Parsed(const std::string& text) {
  auto table = MountTable::Parse(text);
  EXPECT_TRUE(table.has_value()) << text;
  return table ? *std::move(table) : MountTable();
}

std::uint64_t CoveringId(const MountTable& table, std::string_view path) {
  const Mount* mount = table.Covering(path);
  return mount == nullptr ? 0 : mount->id;
}

std::vector<std::uint64_t> VisibleIds(const MountTable& table) {
  std::vector<std::uint64_t> out;
  for (const Mount* mount : table.Visible()) {
    out.push_back(mount->id);
  }
  return out;
}

TEST(MountTable, ReadsAllFields) {
  const auto table = Parsed(
      "36 35 98:7 /mnt1 /mnt2 rw,noatime shared:1 master:2 - ext3 /dev/root ro,errors=continue\n");
  ASSERT_EQ(table.mounts().size(), 1U);
  const Mount& mount = table.mounts()[0];
  EXPECT_EQ(mount.id, 36U);
  EXPECT_EQ(mount.parent, 35U);
  EXPECT_EQ(mount.device, makedev(98, 7));
  EXPECT_EQ(mount.root, "/mnt1");
  EXPECT_EQ(mount.point, "/mnt2");
  EXPECT_EQ(mount.options, "rw,noatime");
  EXPECT_EQ(mount.type, "ext3");
  EXPECT_EQ(mount.source, "/dev/root");
  EXPECT_EQ(mount.super_options, "ro,errors=continue");
}

TEST(MountTable, ReadsEscapes) {
  const auto table =
      Parsed("2 1 0:9 /a\\040b /mnt/\\011\\012\\134\\043\\303\\244 rw - fuse.a\\040b x\\040y rw\n");
  const Mount& mount = table.mounts().at(0);
  EXPECT_EQ(mount.root, "/a b");
  EXPECT_EQ(mount.point, "/mnt/\t\n\\#\xC3\xA4");
  EXPECT_EQ(mount.type, "fuse.a b");
  EXPECT_EQ(mount.source, "x y");
}

TEST(MountTable, RefusesEveryMalformedLine) {
  for (const std::string line : {"",
                                 "2",
                                 "2 1 8:1 / / ro - ext4 /dev/sda1",       // a field less
                                 "2 1 8:1 / / ro - ext4 /dev/sda1 rw x",  // one more
                                 "2 1 8:1 / / ro ext4 /dev/sda1 rw a",    // no dash
                                 "2 1 8:1 / / - ext4 /dev/sda1 rw",       // the dash too early
                                 "x 1 8:1 / / ro - ext4 a rw",
                                 "2 -1 8:1 / / ro - ext4 a rw",
                                 "2 1 8 / / ro - ext4 a rw",
                                 "2 1 8:1:1 / / ro - ext4 a rw",
                                 "2 1 8: / / ro - ext4 a rw",
                                 "2 1 4294967296:1 / / ro - ext4 a rw",
                                 "2 1 8:1 / mnt ro - ext4 a rw",
                                 "2 1 8:1 /  ro - ext4 a rw",  // a point without a slash
                                 "2 1 8:1 / /a\\04 ro - ext4 a rw",
                                 "2 1 8:1 / /a\\08x ro - ext4 a rw",
                                 "2 1 8:1 / /a\\000 ro - ext4 a rw",
                                 "2 1 8:1 / /a\\777 ro - ext4 a rw",
                                 "2 1 8:1 / /a\\ ro - ext4 a rw",
                                 "2 1 8:1 /\\4 / ro - ext4 a rw",
                                 "2 1 8:1 / / ro -  ext4 a rw",
                                 "18446744073709551616 1 8:1 / / ro - ext4 a rw"}) {
    const auto table = MountTable::Parse(line + "\n");
    ASSERT_FALSE(table.has_value()) << line;
    EXPECT_EQ(table.error().code, Code::kInvalid) << line;
    EXPECT_FALSE(MountTable::Parse(kRoot + line + "\n").has_value()) << line;
  }
}

TEST(MountTable, RefusesATableThatIsCut) {
  const std::string text = std::string(kRoot) + "3 2 0:9 / /tmp rw - tmpfs tmpfs rw\n";
  for (std::size_t size = 0; size < text.size(); ++size) {
    const auto table = MountTable::Parse(text.substr(0, size));
    // Only a cut at the end of a line leaves a table.
    EXPECT_EQ(table.has_value(), size > 0 && text[size - 1] == '\n') << size;
  }
}

TEST(MountTable, RefusesAZeroByte) {
  const std::string text("2 1 8:1 / /a\0b ro - ext4 a rw\n", 31);
  EXPECT_EQ(MountTable::Parse(text).error().code, Code::kInvalid);
}

TEST(MountTable, RefusesTheSameIdTwice) {
  EXPECT_FALSE(MountTable::Parse(std::string(kRoot) + kRoot).has_value());
}

TEST(MountTable, HasLimits) {
  std::string text = kRoot;
  for (std::size_t i = 1; i < kMaxMounts; ++i) {
    text += std::to_string(i + 10) + " 2 0:1 / /m rw - t s r\n";
  }
  ASSERT_LT(text.size(), kMaxMountinfoBytes);
  EXPECT_TRUE(MountTable::Parse(text).has_value());
  text += "9 2 0:1 / /m rw - t s r\n";
  EXPECT_EQ(MountTable::Parse(text).error().code, Code::kLimit);
  const std::string large(kMaxMountinfoBytes + 1, '\n');
  EXPECT_EQ(MountTable::Parse(large).error().code, Code::kLimit);
}

TEST(MountTable, ReadOnlyByMountOrByFileSystem) {
  const auto table = Parsed(
      "2 1 8:1 / / ro,nosuid - ext4 a rw\n"
      "3 2 8:2 / /a rw,nodev - ext4 b ro,errors=remount-ro\n"
      "4 2 8:3 / /b rw,errors=ro - ext4 ro rw,errors=remount-ro\n");
  EXPECT_TRUE(table.mounts()[0].ReadOnly());
  EXPECT_TRUE(table.mounts()[1].ReadOnly());
  EXPECT_FALSE(table.mounts()[2].ReadOnly());
  EXPECT_TRUE(table.mounts()[0].Has("nosuid"));
  EXPECT_FALSE(table.mounts()[0].Has("suid"));
  EXPECT_FALSE(table.mounts()[0].Has("nosui"));
}

TEST(MountTable, CoveringIsTheDeepestMountOfTheWalk) {
  const auto table = Parsed(std::string(kRoot) +
                            "3 2 0:3 / /home rw - tmpfs t rw\n"
                            "4 3 0:4 / /home/a rw - tmpfs t rw\n");
  EXPECT_EQ(CoveringId(table, "/"), 2U);
  EXPECT_EQ(CoveringId(table, "/etc"), 2U);
  EXPECT_EQ(CoveringId(table, "/home"), 3U);
  EXPECT_EQ(CoveringId(table, "/home/ab"), 3U);
  EXPECT_EQ(CoveringId(table, "/home/a"), 4U);
  EXPECT_EQ(CoveringId(table, "/home/a/b/c"), 4U);
  EXPECT_EQ(CoveringId(table, "/homeless"), 2U);
  EXPECT_EQ(CoveringId(table, "relative"), 2U);
}

TEST(MountTable, AStackShowsItsTopOnly) {
  const auto table = Parsed(std::string(kRoot) +
                            "3 2 0:3 / /tmp rw - tmpfs t rw\n"
                            "4 3 0:4 / /tmp rw - tmpfs t rw\n"
                            "5 4 0:5 / /tmp rw - tmpfs t rw\n");
  EXPECT_EQ(CoveringId(table, "/tmp"), 5U);
  EXPECT_EQ(CoveringId(table, "/tmp/x"), 5U);
  EXPECT_EQ(VisibleIds(table), (std::vector<std::uint64_t>{2, 5}));
}

TEST(MountTable, TheRootCanBeAStackToo) {
  const auto table = Parsed(
      "1 0 0:1 / / rw - rootfs rootfs rw\n"
      "2 1 8:1 / / ro - ext4 a rw\n"
      "3 2 0:3 / /tmp rw - tmpfs t rw\n"
      "4 1 0:4 / /old rw - tmpfs t rw\n");
  EXPECT_EQ(CoveringId(table, "/"), 2U);
  EXPECT_EQ(CoveringId(table, "/old"), 2U);
  EXPECT_EQ(VisibleIds(table), (std::vector<std::uint64_t>{2, 3}));
}

TEST(MountTable, ALaterMountAboveHidesWhatLiesBelow) {
  // /a/b was mounted first, then /a over it: both hang on the root.
  const auto table = Parsed(std::string(kRoot) +
                            "3 2 0:3 / /a/b rw - tmpfs t rw\n"
                            "4 2 0:4 / /a rw - tmpfs t rw\n"
                            "5 4 0:5 / /a/b/c rw - tmpfs t rw\n");
  EXPECT_EQ(CoveringId(table, "/a/b"), 4U);
  EXPECT_EQ(CoveringId(table, "/a/b/c"), 5U);
  EXPECT_EQ(VisibleIds(table), (std::vector<std::uint64_t>{2, 4, 5}));
}

TEST(MountTable, AChildOfAHiddenMountIsHidden) {
  const auto table = Parsed(std::string(kRoot) +
                            "3 2 0:3 / /dev rw - devtmpfs t rw\n"
                            "4 3 0:4 / /dev/pts rw - devpts t rw\n"
                            "5 3 0:5 / /dev rw - tmpfs t rw\n");
  EXPECT_EQ(CoveringId(table, "/dev/pts"), 5U);
  EXPECT_EQ(VisibleIds(table), (std::vector<std::uint64_t>{2, 5}));
}

TEST(MountTable, WithoutARootNothingIsCovered) {
  const auto table = Parsed("3 2 0:3 / /tmp rw - tmpfs t rw\n");
  EXPECT_EQ(table.Covering("/tmp"), nullptr);
  EXPECT_TRUE(table.Visible().empty());
  EXPECT_EQ(MountTable().Covering("/"), nullptr);
}

TEST(MountTable, ParentsInACircleEnd) {
  const auto table = Parsed(std::string(kRoot) +
                            "3 4 0:3 / /a rw - tmpfs t rw\n"
                            "4 3 0:4 / /a rw - tmpfs t rw\n"
                            "5 5 0:5 / /b rw - tmpfs t rw\n");
  EXPECT_EQ(CoveringId(table, "/a"), 2U);
  EXPECT_EQ(CoveringId(table, "/b"), 2U);
  const auto own = Parsed("2 2 0:3 / / rw - tmpfs t rw\n3 2 0:4 / / rw - tmpfs t rw\n");
  EXPECT_EQ(CoveringId(own, "/x"), 3U);
}

TEST(MountTable, ACopyStandsOnItsOwn) {
  MountTable copy;
  {
    const auto table = Parsed(std::string(kRoot) + "3 2 0:3 / /tmp rw - tmpfs t rw\n");
    copy = table;
  }
  EXPECT_EQ(CoveringId(copy, "/tmp/x"), 3U);
}

TEST(MountTable, AgreesWithTheKernelOnThisHost) {
  const auto text = ReadPath("/proc/self/mountinfo", kMaxMountinfoBytes);
  ASSERT_TRUE(text.has_value());
  const auto table = Parsed(*text);
  for (const char* path :
       {"/", "/proc", "/proc/self", "/tmp", "/etc", "/dev/null", "/sys/kernel"}) {
    const UniqueFd fd(open(path, O_PATH | O_CLOEXEC));
    if (const auto identity = IdentityOf(fd.get()); identity) {
      EXPECT_EQ(CoveringId(table, std::string(path) == "/proc/self" ? "/proc" : path),
                identity->mount_id)
          << path;
    }
  }
}

TEST(MountTable, AgreesWithTheKernelOnStacksAndOddNames) {
  const ScratchDir scratch;
  const std::string odd = scratch.Path("a \t\n\\#\xFFz");
  ASSERT_EQ(mkdir(odd.c_str(), 0755), 0);
  EXPECT_EQ(InChild([&]() -> std::string {
              if (!EnterOwnMounts()) {
                return "no mounts of its own";
              }
              for (int i = 0; i < 2; ++i) {
                if (mount("tmpfs", odd.c_str(), "tmpfs", 0, nullptr) != 0) {
                  return "cannot mount";
                }
              }
              const auto text = ReadPath("/proc/self/mountinfo", kMaxMountinfoBytes);
              const auto table = text ? MountTable::Parse(*text) : Fail(text.error());
              if (!table) {
                return table.error().message;
              }
              const UniqueFd fd(open(odd.c_str(), O_PATH | O_CLOEXEC));
              const Mount* covering = table->Covering(odd);
              return covering != nullptr && covering->id == IdentityOf(fd.get())->mount_id &&
                             covering->type == "tmpfs"
                         ? "same"
                         : "another";
            }),
            "same");
}

TEST(PathIsWithin, GoesByComponents) {
  EXPECT_TRUE(PathIsWithin("/a", "/a"));
  EXPECT_TRUE(PathIsWithin("/a/b", "/a"));
  EXPECT_TRUE(PathIsWithin("/a", "/"));
  EXPECT_TRUE(PathIsWithin("/", "/"));
  EXPECT_FALSE(PathIsWithin("/ab", "/a"));
  EXPECT_FALSE(PathIsWithin("/a", "/a/b"));
  EXPECT_FALSE(PathIsWithin("", "/"));
  EXPECT_FALSE(PathIsWithin("/", "/a"));
}

}  // namespace
}  // namespace maco

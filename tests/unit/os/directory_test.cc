// Directory capabilities: nothing below them leads elsewhere, by link, "..", mount or absolute
// name. Contract under test: libcommon/os/directory.h, openat2(2).
#include "libcommon/os/directory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "tests/unit/os/in_child.h"
#include "tests/unit/scratch_dir.h"

namespace maco {
namespace {

namespace fs = std::filesystem;

void Touch(const Directory& directory, const std::string& name) {
  ASSERT_TRUE(directory.OpenFile(name, O_WRONLY | O_CREAT | O_EXCL, 0600).has_value()) << name;
}

TEST(Directory, OpensWhatIsBelow) {
  const ScratchDir scratch;
  const auto sub = scratch.dir().Create("sub", 0700);
  ASSERT_TRUE(sub.has_value());
  Touch(*sub, "f");
  EXPECT_TRUE(scratch.dir().Open("sub").has_value());
  EXPECT_TRUE(scratch.dir().Open(".").has_value());
  const auto file = scratch.dir().OpenFile("sub/f", O_RDONLY);
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(fcntl(file->get(), F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(fcntl(scratch.dir().fd(), F_GETFD), FD_CLOEXEC);
}

TEST(Directory, RefusesEverythingThatLeadsOut) {
  const ScratchDir scratch;
  ASSERT_TRUE(scratch.dir().Create("sub", 0700).has_value());
  ASSERT_TRUE(scratch.dir().Create("sub/deep", 0700).has_value());
  const auto sub = scratch.dir().Open("sub");
  ASSERT_TRUE(sub.has_value());
  for (const std::string name : {"..", "../sub", "deep/../..", "/", "/tmp"}) {
    EXPECT_EQ(sub->Open(name).error().os_errno, EXDEV) << name;
    EXPECT_EQ(sub->OpenFile(name, O_RDONLY).error().os_errno, EXDEV) << name;
  }
  // A step back that stays below leads nowhere else.
  EXPECT_TRUE(sub->Open("deep/..").has_value());
}

TEST(Directory, RefusesSymbolicLinksInEveryPlace) {
  const ScratchDir scratch;
  ASSERT_TRUE(scratch.dir().Create("sub", 0700).has_value());
  Touch(scratch.dir(), "f");
  fs::create_symlink("f", scratch.Path("to-file"));
  fs::create_symlink("sub", scratch.Path("to-directory"));
  fs::create_symlink("/", scratch.Path("to-root"));
  fs::create_symlink("nowhere", scratch.Path("dangling"));
  EXPECT_EQ(scratch.dir().OpenFile("to-file", O_RDONLY).error().os_errno, ELOOP);
  // With O_DIRECTORY the kernel says that the link itself is no directory.
  EXPECT_EQ(scratch.dir().Open("to-directory").error().os_errno, ENOTDIR);
  EXPECT_EQ(scratch.dir().Open("to-directory/.").error().os_errno, ELOOP);
  EXPECT_EQ(scratch.dir().OpenFile("to-directory/x", O_WRONLY | O_CREAT, 0600).error().os_errno,
            ELOOP);
  EXPECT_EQ(scratch.dir().Open("to-root").error().os_errno, ENOTDIR);
  EXPECT_EQ(scratch.dir().Open("to-root/etc").error().os_errno, ELOOP);
  EXPECT_EQ(scratch.dir().OpenFile("dangling", O_WRONLY | O_CREAT, 0600).error().os_errno, ELOOP);
  EXPECT_FALSE(fs::exists(scratch.Path("nowhere")));
  EXPECT_FALSE(fs::exists(scratch.Path("sub/x")));
}

TEST(Directory, RefusesLinksOfProc) {
  const auto proc = Directory::OpenPath("/proc/self");
  ASSERT_TRUE(proc.has_value());
  for (const char* name : {"root/.", "cwd/.", "root/etc"}) {
    EXPECT_EQ(proc->Open(name).error().os_errno, ELOOP) << name;
  }
  EXPECT_EQ(proc->Open("root").error().os_errno, ENOTDIR);
  EXPECT_EQ(proc->OpenFile("exe", O_RDONLY).error().os_errno, ELOOP);
}

TEST(Directory, RefusesAnotherMountUnlessAllowed) {
  const auto root = Directory::OpenPath("/");
  ASSERT_TRUE(root.has_value());
  EXPECT_EQ(root->Open("proc").error().os_errno, EXDEV);
  EXPECT_EQ(root->OpenFile("proc/version", O_RDONLY).error().os_errno, EXDEV);
  EXPECT_TRUE(root->Open("proc", CrossDevice::kAllow).has_value());
}

TEST(Directory, RefusesABindMountOfTheSameFileSystem) {
  const ScratchDir scratch;
  ASSERT_TRUE(scratch.dir().Create("a", 0700).has_value());
  ASSERT_TRUE(scratch.dir().Create("b", 0700).has_value());
  EXPECT_EQ(InChild([&]() -> std::string {
              if (!EnterOwnMounts() || mount(scratch.Path("a").c_str(), scratch.Path("b").c_str(),
                                             nullptr, MS_BIND, nullptr) != 0) {
                return "no mounts of its own";
              }
              const auto top = Directory::OpenPath(scratch.path());
              const auto below = top->Open("b");
              return below ? "opened" : std::to_string(below.error().os_errno);
            }),
            std::to_string(EXDEV));
}

TEST(Directory, OpenTellsWhatIsWrong) {
  const ScratchDir scratch;
  Touch(scratch.dir(), "f");
  EXPECT_EQ(scratch.dir().Open("none").error().code, Code::kNotFound);
  EXPECT_EQ(scratch.dir().Open("f").error().os_errno, ENOTDIR);
  EXPECT_EQ(scratch.dir().Open("").error().code, Code::kNotFound);
  EXPECT_EQ(Directory::OpenPath(scratch.Path("none")).error().code, Code::kNotFound);
  EXPECT_EQ(Directory::OpenPath(scratch.Path("f")).error().os_errno, ENOTDIR);
  EXPECT_NE(scratch.dir().Open("none").error().message.find("'none'"), std::string::npos);
}

TEST(Directory, CreatesWithItsModeOrSaysThatItIsThere) {
  const ScratchDir scratch;
  const mode_t before = umask(0);
  ASSERT_TRUE(scratch.dir().Create("new", 0700).has_value());
  umask(before);
  EXPECT_EQ(scratch.dir().Stat("new")->mode, S_IFDIR | 0700U);
  EXPECT_EQ(scratch.dir().Create("new", 0700).error().code, Code::kExists);
  EXPECT_TRUE(scratch.dir().OpenOrCreate("new", 0700).has_value());
  EXPECT_TRUE(scratch.dir().OpenOrCreate("newer", 0700).has_value());
}

TEST(Directory, OpenOrCreateDoesNotFollowALink) {
  const ScratchDir scratch;
  ASSERT_TRUE(scratch.dir().Create("real", 0700).has_value());
  fs::create_symlink("real", scratch.Path("link"));
  EXPECT_EQ(scratch.dir().OpenOrCreate("link", 0700).error().os_errno, ENOTDIR);
  Touch(scratch.dir(), "file");
  EXPECT_EQ(scratch.dir().OpenOrCreate("file", 0700).error().os_errno, ENOTDIR);
}

// Calls that name something by the last component of a name with slashes.
TEST(Directory, NoCallFollowsALinkOnTheWay) {
  const ScratchDir outside;
  const ScratchDir scratch;
  Touch(outside.dir(), "file");
  ASSERT_TRUE(outside.dir().Create("empty", 0700));
  Touch(scratch.dir(), "mine");
  fs::create_symlink(outside.path(), scratch.Path("link"));
  const Directory& top = scratch.dir();
  EXPECT_FALSE(top.Unlink("link/file"));
  EXPECT_FALSE(top.RemoveDirectory("link/empty"));
  EXPECT_FALSE(top.Create("link/new", 0700));
  EXPECT_FALSE(top.OpenOrCreate("link/new", 0700));
  EXPECT_FALSE(top.Rename("link/file", "taken"));
  EXPECT_FALSE(top.Rename("mine", "link/given"));
  EXPECT_FALSE(top.Move("link/file", top, "taken", Directory::IfThere::kReplace));
  EXPECT_FALSE(top.Move("mine", top, "link/given", Directory::IfThere::kKeep));
  EXPECT_FALSE(top.Stat("link/file"));
  auto names = *outside.dir().List(10);
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"empty", "file"}));
  // The same below a real directory is done.
  ASSERT_TRUE(top.Create("a", 0700) && top.Create("a/b", 0700));
  Touch(top, "a/b/file");
  EXPECT_TRUE(top.Stat("a/b/file"));
  EXPECT_TRUE(top.Rename("a/b/file", "a/file"));
  EXPECT_TRUE(top.Move("a/file", top, "a/b/again", Directory::IfThere::kKeep));
  EXPECT_TRUE(top.Unlink("a/b/again"));
  EXPECT_TRUE(top.RemoveDirectory("a/b"));
}

TEST(Directory, StatLooksAtTheNameItself) {
  const ScratchDir scratch;
  Touch(scratch.dir(), "f");
  fs::create_symlink("f", scratch.Path("link"));
  ASSERT_EQ(link(scratch.Path("f").c_str(), scratch.Path("g").c_str()), 0);
  const auto file = scratch.dir().Stat("f");
  const auto other = scratch.dir().Stat("g");
  const auto symbolic = scratch.dir().Stat("link");
  ASSERT_TRUE(file && other && symbolic);
  EXPECT_TRUE(file->SameFile(*other));
  EXPECT_FALSE(file->SameFile(*symbolic));
  EXPECT_EQ(file->links, 2U);
  EXPECT_EQ(file->uid, geteuid());
  EXPECT_TRUE(S_ISLNK(symbolic->mode));
  EXPECT_EQ(scratch.dir().Stat("none").error().code, Code::kNotFound);
}

TEST(Directory, IdentityIsWhatStatSays) {
  const ScratchDir scratch;
  struct stat st {};
  ASSERT_EQ(stat(scratch.path().c_str(), &st), 0);
  const auto identity = scratch.dir().Identity();
  ASSERT_TRUE(identity.has_value());
  EXPECT_EQ(identity->device, st.st_dev);
  EXPECT_EQ(identity->inode, st.st_ino);
  EXPECT_NE(identity->mount_id, 0U);
  EXPECT_EQ(IdentityOf(-1).error().os_errno, EBADF);
}

TEST(Directory, ListHasAllNamesAndALimit) {
  const ScratchDir scratch;
  EXPECT_TRUE(scratch.dir().List(0)->empty());
  for (const char* name : {"a", ".b", "c d"}) {
    Touch(scratch.dir(), name);
  }
  auto names = scratch.dir().List(3);
  ASSERT_TRUE(names.has_value());
  std::ranges::sort(*names);
  EXPECT_EQ(*names, (std::vector<std::string>{".b", "a", "c d"}));
  EXPECT_EQ(scratch.dir().List(2).error().code, Code::kLimit);
  EXPECT_EQ(scratch.dir().List(3)->size(), 3U);  // reading again starts at the beginning
}

TEST(Directory, MovesAndKeepsWhatIsThereIfAsked) {
  const ScratchDir scratch;
  const auto from = scratch.dir().Create("from", 0700);
  const auto to = scratch.dir().Create("to", 0700);
  ASSERT_TRUE(from.has_value() && to.has_value());
  Touch(*from, "a");
  Touch(*to, "b");
  const auto moved = from->Stat("a");
  const auto kept = scratch.dir().Move("from/a", *to, "b", Directory::IfThere::kKeep);
  ASSERT_FALSE(kept.has_value());
  EXPECT_EQ(kept.error().code, Code::kExists);
  ASSERT_TRUE(scratch.dir().Move("from/a", *to, "b", Directory::IfThere::kReplace).has_value());
  EXPECT_TRUE(to->Stat("b")->SameFile(*moved));
  EXPECT_FALSE(from->Stat("a").has_value());
}

TEST(Directory, RemovesAndRenames) {
  const ScratchDir scratch;
  Touch(scratch.dir(), "f");
  ASSERT_TRUE(scratch.dir().Create("d", 0700).has_value());
  EXPECT_FALSE(scratch.dir().Unlink("d").has_value());
  EXPECT_FALSE(scratch.dir().RemoveDirectory("f").has_value());
  EXPECT_TRUE(scratch.dir().Rename("f", "d/g").has_value());
  EXPECT_FALSE(scratch.dir().RemoveDirectory("d").has_value());
  EXPECT_TRUE(scratch.dir().Unlink("d/g").has_value());
  EXPECT_TRUE(scratch.dir().RemoveDirectory("d").has_value());
  EXPECT_EQ(scratch.dir().Unlink("f").error().code, Code::kNotFound);
  EXPECT_TRUE(scratch.dir().Sync().has_value());
}

TEST(Directory, IsTheSameDirectoryAfterItsNameWasTaken) {
  const ScratchDir scratch;
  const auto held = scratch.dir().Create("d", 0700);
  ASSERT_TRUE(held.has_value());
  Touch(*held, "mine");
  fs::rename(scratch.Path("d"), scratch.Path("aside"));
  ASSERT_TRUE(scratch.dir().Create("d", 0700).has_value());
  EXPECT_TRUE(held->OpenFile("mine", O_RDONLY).has_value());
  const auto clone = held->Clone();
  ASSERT_TRUE(clone.has_value());
  EXPECT_TRUE(clone->Identity()->SameFile(*held->Identity()));
  EXPECT_FALSE(scratch.dir().Stat("d")->SameFile(*held->Identity()));
}

FileIdentity Private(std::uint32_t mode) {
  FileIdentity identity;
  identity.mode = mode;
  identity.uid = geteuid();
  identity.links = 1;
  return identity;
}

TEST(RequirePrivate, TakesOnlyTheOwnersOwn) {
  EXPECT_TRUE(RequirePrivateDirectory(Private(S_IFDIR | 0700U), "d").has_value());
  EXPECT_TRUE(RequirePrivateFile(Private(S_IFREG | 0600U), "f").has_value());
  EXPECT_TRUE(RequirePrivateFile(Private(S_IFREG | 0400U), "f").has_value());
  for (const unsigned bit : {0001U, 0010U, 0004U, 0040U, 0002U, 0020U}) {
    EXPECT_EQ(RequirePrivateDirectory(Private(S_IFDIR | 0700U | bit), "d").error().code,
              Code::kPermission);
    EXPECT_EQ(RequirePrivateFile(Private(S_IFREG | 0600U | bit), "f").error().code,
              Code::kPermission);
  }
  // S_IFLNK, S_IFIFO, S_IFSOCK, S_IFCHR
  for (const unsigned type : {0120000U, 0010000U, 0140000U, 0020000U}) {
    EXPECT_FALSE(RequirePrivateFile(Private(type | 0600U), "f").has_value());
    EXPECT_FALSE(RequirePrivateDirectory(Private(type | 0700U), "d").has_value());
  }
  EXPECT_FALSE(RequirePrivateFile(Private(S_IFDIR | 0700U), "f").has_value());
  EXPECT_FALSE(RequirePrivateDirectory(Private(S_IFREG | 0600U), "d").has_value());
  FileIdentity other = Private(S_IFREG | 0600U);
  other.uid += 1;
  EXPECT_FALSE(RequirePrivateFile(other, "f").has_value());
  FileIdentity twice = Private(S_IFREG | 0600U);
  for (const std::uint32_t links : {0U, 2U}) {
    twice.links = links;
    const auto checked = RequirePrivateFile(twice, "the key");
    ASSERT_FALSE(checked.has_value());
    EXPECT_NE(checked.error().message.find("'the key'"), std::string::npos);
  }
}

}  // namespace
}  // namespace maco

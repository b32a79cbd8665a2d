// What a tree may not hold when a run gets it: special files, other mounts, names that lead out.
// Contract under test: libcommon/os/tree_scan.h. Requirement RUN-06.
#include "libcommon/os/tree_scan.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/unit/os/in_child.h"
#include "tests/unit/scratch_dir.h"

namespace maco {
namespace {

namespace fs = std::filesystem;

void Touch(const std::string& path) { std::ofstream(path) << "x"; }

// With findings: as a writable root.
Result<void> Scan(const ScratchDir& scratch, ScanFindings& counts,
                  WritableFindings* findings = nullptr, const ScanLimits& limits = {}) {
  return ScanTree(scratch.dir(), "/the/root", limits, counts, findings);
}

Result<void> Scan(const ScratchDir& scratch, WritableFindings* findings = nullptr) {
  ScanFindings counts;
  return Scan(scratch, counts, findings);
}

// A socket below `scratch`; the name may be longer than an address holds.
void MakeSocket(const ScratchDir& scratch, const std::string& name) {
  const UniqueFd listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = "/proc/self/fd/" + std::to_string(scratch.dir().fd()) + "/" + name;
  ASSERT_LT(path.size(), sizeof address.sun_path);
  memcpy(address.sun_path, path.c_str(), path.size() + 1);
  ASSERT_EQ(bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
}

TEST(TreeScan, CountsAnOrdinaryTree) {
  const ScratchDir scratch;
  fs::create_directories(scratch.Path("a/b/c"));
  Touch(scratch.Path("a/f"));
  Touch(scratch.Path("a/b/c/g h\n"));
  fs::create_symlink("f", scratch.Path("a/link"));
  fs::create_symlink("nowhere", scratch.Path("dangling"));
  fs::create_symlink("/", scratch.Path("a/b/out"));
  fs::create_symlink(".", scratch.Path("loop"));
  ScanFindings counts;
  ASSERT_TRUE(Scan(scratch, counts).has_value());
  EXPECT_EQ(counts.entries, 9U);
  EXPECT_EQ(counts.directories, 3U);
  EXPECT_EQ(counts.files, 2U);
  EXPECT_EQ(counts.links, 4U);
}

TEST(TreeScan, RefusesAFifoAndNamesIt) {
  const ScratchDir scratch;
  fs::create_directories(scratch.Path("a/b"));
  ASSERT_EQ(mkfifo(scratch.Path("a/b/pipe").c_str(), 0600), 0);
  const auto scanned = Scan(scratch);
  ASSERT_FALSE(scanned.has_value());
  EXPECT_EQ(scanned.error().code, Code::kRefused);
  EXPECT_EQ(scanned.error().message, "'/the/root/a/b/pipe' is a FIFO");
  EXPECT_FALSE(scanned.error().remedy.empty());
}

TEST(TreeScan, RefusesASocket) {
  const ScratchDir scratch;
  MakeSocket(scratch, "s");
  const auto scanned = Scan(scratch);
  ASSERT_FALSE(scanned.has_value());
  EXPECT_EQ(scanned.error().message, "'/the/root/s' is a socket");
  EXPECT_EQ(scanned.error().remedy.find("fsmonitor"), std::string::npos);
}

TEST(TreeScan, SaysHowToStopGitsMonitor) {
  const ScratchDir scratch;
  fs::create_directory(scratch.Path(".git"));
  MakeSocket(scratch, ".git/fsmonitor--daemon.ipc");
  const auto scanned = Scan(scratch);
  ASSERT_FALSE(scanned.has_value());
  EXPECT_EQ(scanned.error().message, "'/the/root/.git/fsmonitor--daemon.ipc' is a socket");
  EXPECT_NE(scanned.error().remedy.find("git fsmonitor--daemon stop"), std::string::npos);
}

TEST(TreeScan, RefusesADeviceNode) {
  const ScratchDir scratch;
  if (mknod(scratch.Path("device").c_str(), S_IFCHR | 0600U, makedev(1, 3)) == 0) {
    EXPECT_EQ(Scan(scratch).error().message, "'/the/root/device' is a device node");
    fs::remove(scratch.Path("device"));
    ASSERT_EQ(mknod(scratch.Path("block").c_str(), S_IFBLK | 0600U, makedev(7, 250)), 0);
    EXPECT_EQ(Scan(scratch).error().message, "'/the/root/block' is a device node");
    return;
  }
  // Without the privilege to make one there is the host's /dev.
  const auto dev = Directory::OpenPath("/dev");
  ScanFindings counts;
  EXPECT_EQ(ScanTree(*dev, "/dev", {}, counts, nullptr).error().code, Code::kRefused);
}

// The answer of a scan of `scratch` in mounts of our own, after `arrange` was mounted there.
template <typename Arrange>
std::string ScanWithMounts(const ScratchDir& scratch, Arrange arrange) {
  return InChild([&]() -> std::string {
    if (!EnterOwnMounts() || !arrange()) {
      return "no mounts of its own";
    }
    const auto top = Directory::OpenPath(scratch.path());
    ScanFindings counts;
    return Answer(ScanTree(*top, "/the/root", {}, counts, nullptr));
  });
}

bool Bind(const std::string& from, const std::string& to) {
  return mount(from.c_str(), to.c_str(), nullptr, MS_BIND, nullptr) == 0;
}

TEST(TreeScan, RefusesAnotherFileSystemBelow) {
  const ScratchDir scratch;
  fs::create_directories(scratch.Path("a/mnt"));
  const std::string answer = ScanWithMounts(scratch, [&] {
    return mount("tmpfs", scratch.Path("a/mnt").c_str(), "tmpfs", 0, nullptr) == 0;
  });
  EXPECT_EQ(answer, "refused: '" + scratch.Path("a/mnt") + "' lies on another filesystem or mount");
}

TEST(TreeScan, RefusesABindMountOfTheSameFileSystemBelow) {
  const ScratchDir scratch;
  fs::create_directories(scratch.Path("a"));
  fs::create_directories(scratch.Path("b"));
  EXPECT_EQ(ScanWithMounts(scratch, [&] { return Bind(scratch.Path("a"), scratch.Path("b")); }),
            "refused: '" + scratch.Path("b") + "' lies on another filesystem or mount");
}

TEST(TreeScan, RefusesAFileThatIsAMountPoint) {
  // In its directory it is a regular file still; what is there is a device.
  const ScratchDir scratch;
  Touch(scratch.Path("f"));
  EXPECT_EQ(ScanWithMounts(scratch, [&] { return Bind("/dev/null", scratch.Path("f")); }),
            "refused: '" + scratch.Path("f") + "' lies on another filesystem or mount");
}

TEST(TreeScan, TheRootMayBeAMountPointItself) {
  const ScratchDir scratch;
  Touch(scratch.Path("f"));
  EXPECT_EQ(ScanWithMounts(scratch, [&] { return Bind(scratch.path(), scratch.path()); }), "ok");
}

TEST(TreeScan, AMountBesideTheTreeIsNoConcern) {
  const ScratchDir scratch;
  const ScratchDir beside;
  EXPECT_EQ(ScanWithMounts(scratch, [&] { return Bind("/proc", beside.path()); }), "ok");
}

TEST(TreeScan, StopsAtItsLimit) {
  const ScratchDir scratch;
  fs::create_directory(scratch.Path("d"));
  for (int i = 0; i < 9; ++i) {
    Touch(scratch.Path("d/" + std::to_string(i)));
  }
  ScanFindings counts;
  EXPECT_TRUE(Scan(scratch, counts, nullptr, {.entries = 10}).has_value());
  EXPECT_EQ(counts.entries, 10U);
  counts = {};
  const auto scanned = Scan(scratch, counts, nullptr, {.entries = 9});
  ASSERT_FALSE(scanned.has_value());
  EXPECT_EQ(scanned.error().code, Code::kLimit);
  EXPECT_EQ(scanned.error().message, "'/the/root' holds more than 9 entries");
}

TEST(TreeScan, TheLimitIsOverAllRootsOfAPass) {
  const ScratchDir one;
  const ScratchDir two;
  Touch(one.Path("a"));
  Touch(two.Path("b"));
  ScanFindings counts;
  EXPECT_TRUE(Scan(one, counts, nullptr, {.entries = 1}).has_value());
  EXPECT_EQ(Scan(two, counts, nullptr, {.entries = 1}).error().code, Code::kLimit);
}

TEST(TreeScan, ManyEntriesInManyDirectories) {
  const ScratchDir scratch;
  for (int i = 0; i < 30; ++i) {
    const std::string directory = scratch.Path("directory-" + std::to_string(i));
    fs::create_directory(directory);
    for (int k = 0; k < 100; ++k) {
      // Long names: more than one getdents64 buffer in the last directory.
      Touch(directory + "/" + std::string(i == 29 ? 200 : 5, 'n') + std::to_string(k));
    }
  }
  for (int k = 0; k < 400; ++k) {
    Touch(scratch.Path("directory-29/" + std::string(200, 'm') + std::to_string(k)));
  }
  ScanFindings counts;
  ASSERT_TRUE(Scan(scratch, counts).has_value());
  EXPECT_EQ(counts.directories, 30U);
  EXPECT_EQ(counts.files, 3400U);
}

TEST(TreeScan, ADirectoryThatCannotBeReadIsAnError) {
  const ScratchDir scratch;
  fs::create_directories(scratch.Path("open/closed"));
  fs::permissions(scratch.path(), fs::perms::all);
  fs::permissions(scratch.Path("open"), fs::perms::all);
  fs::permissions(scratch.Path("open/closed"), fs::perms::none);
  EXPECT_EQ(InChild([&]() -> std::string {
              const auto top = Directory::OpenPath(scratch.path());
              if (!top || !BecomeOrdinaryUser()) {
                return "no ordinary user";
              }
              ScanFindings counts;
              const auto scanned = ScanTree(*top, "/the/root", {}, counts, nullptr);
              if (!scanned && scanned.error().remedy.find("chmod") == std::string::npos) {
                return "no remedy";
              }
              return Answer(scanned).substr(0, 51);
            }),
            std::string("permission: cannot scan '/the/root/open/closed': op"));
  fs::permissions(scratch.Path("open/closed"), fs::perms::owner_all);
}

TEST(LinkLedger, AHardLinkInsideIsAccepted) {
  const ScratchDir scratch;
  fs::create_directory(scratch.Path("a"));
  Touch(scratch.Path("f"));
  fs::create_hard_link(scratch.Path("f"), scratch.Path("a/g"));
  WritableFindings findings;
  ASSERT_TRUE(Scan(scratch, &findings).has_value());
  EXPECT_TRUE(findings.ledger.Check().has_value());
}

TEST(LinkLedger, AHardLinkOutsideIsRefusedAndNamed) {
  const ScratchDir scratch;
  const ScratchDir outside;
  Touch(outside.Path("secret"));
  fs::create_directory(scratch.Path("a"));
  fs::create_hard_link(outside.Path("secret"), scratch.Path("a/f"));
  fs::create_hard_link(outside.Path("secret"), scratch.Path("a/g"));
  WritableFindings findings;
  ASSERT_TRUE(Scan(scratch, &findings).has_value());
  const auto checked = findings.ledger.Check();
  ASSERT_FALSE(checked.has_value());
  EXPECT_EQ(checked.error().code, Code::kRefused);
  EXPECT_TRUE(checked.error().message.starts_with("'/the/root/a/")) << checked.error().message;
  // A tree that is read only cannot be changed by either name.
  EXPECT_TRUE(Scan(scratch).has_value());
}

TEST(LinkLedger, NamesInTwoWritableRootsAreInside) {
  const ScratchDir one;
  const ScratchDir two;
  Touch(one.Path("f"));
  fs::create_hard_link(one.Path("f"), two.Path("g"));
  WritableFindings findings;
  ASSERT_TRUE(Scan(one, &findings).has_value());
  EXPECT_FALSE(findings.ledger.Check().has_value());
  ASSERT_TRUE(Scan(two, &findings).has_value());
  EXPECT_TRUE(findings.ledger.Check().has_value());
}

TEST(LinkLedger, ALinkOfASymbolicLinkDoesNoHarm) {
  const ScratchDir scratch;
  const ScratchDir outside;
  fs::create_symlink("x", outside.Path("l"));
  ASSERT_EQ(linkat(AT_FDCWD, outside.Path("l").c_str(), AT_FDCWD, scratch.Path("l").c_str(), 0), 0);
  WritableFindings findings;
  ASSERT_TRUE(Scan(scratch, &findings).has_value());
  EXPECT_TRUE(findings.ledger.Check().has_value());
}

TEST(LinkLedger, FilesOfAGitDirectoryStayReadOnlyAnyway) {
  const ScratchDir scratch;
  const ScratchDir outside;
  Touch(outside.Path("object"));
  fs::create_directories(scratch.Path("sub/.git/objects/ab"));
  fs::create_hard_link(outside.Path("object"), scratch.Path("sub/.git/objects/ab/cd"));
  WritableFindings findings;
  ASSERT_TRUE(Scan(scratch, &findings).has_value());
  EXPECT_TRUE(findings.ledger.Check().has_value());
  // A name that only looks like it is no such directory.
  fs::create_directories(scratch.Path("sub/.gitx"));
  fs::create_hard_link(outside.Path("object"), scratch.Path("sub/.gitx/cd"));
  WritableFindings again;
  ASSERT_TRUE(Scan(scratch, &again).has_value());
  EXPECT_FALSE(again.ledger.Check().has_value());
}

TEST(WritableFindings, HaveEveryGitEntryWhateverItsKind) {
  const ScratchDir scratch;
  fs::create_directories(scratch.Path(".git/modules/.git"));
  fs::create_directories(scratch.Path("a/b"));
  Touch(scratch.Path("a/b/.git"));
  Touch(scratch.Path("a/.gitignore"));
  WritableFindings findings;
  ASSERT_TRUE(Scan(scratch, &findings).has_value());
  auto& found = findings.git_entries;
  std::ranges::sort(found);
  EXPECT_TRUE(std::ranges::includes(
      found, std::vector<std::string>{"/the/root/.git", "/the/root/a/b/.git"}));
  EXPECT_TRUE(Scan(scratch).has_value());
}

TEST(WritableFindings, AGitEntryThatIsASymbolicLinkIsRefused) {
  const ScratchDir scratch;
  fs::create_directory(scratch.Path("a"));
  fs::create_symlink("elsewhere", scratch.Path("a/.git"));
  WritableFindings findings;
  const auto scanned = Scan(scratch, &findings);
  ASSERT_FALSE(scanned.has_value());
  EXPECT_EQ(scanned.error().code, Code::kRefused);
  EXPECT_TRUE(scanned.error().message.starts_with("'/the/root/a/.git' is a symbolic link"));
  EXPECT_TRUE(Scan(scratch).has_value()) << "in a tree that is read-only it does no harm";
}

// JRN-10: the keys of other repositories, wherever they lie in the tree, and in any tree.
TEST(ScanFindings, HaveEveryStateRoot) {
  const ScratchDir scratch;
  for (const char* name : {".git/maco", "inner/.git/modules/sub/maco", "gd/maco", "plain/maco",
                           "xmaco", "not/macos"}) {
    fs::create_directories(scratch.Path(name));
    Touch(scratch.Path(std::string(name) + "/key"));
  }
  fs::remove(scratch.Path("plain/maco/key"));
  fs::create_directory(scratch.Path("plain/maco/key"));
  ScanFindings seen;
  ASSERT_TRUE(Scan(scratch, seen).has_value());
  std::ranges::sort(seen.state_roots);
  EXPECT_EQ(seen.state_roots, (std::vector<std::string>{"/the/root/.git/maco", "/the/root/gd/maco",
                                                        "/the/root/inner/.git/modules/sub/maco"}));
  ScanFindings more;
  EXPECT_EQ(Scan(scratch, more, nullptr, {.state_roots = 2}).error().code, Code::kLimit);
}

TEST(ScanFindings, ARootCanBeAStateRootItself) {
  const ScratchDir scratch;
  Touch(scratch.Path("key"));
  ScanFindings seen;
  ASSERT_TRUE(ScanTree(scratch.dir(), "/the/maco", {}, seen, nullptr).has_value());
  EXPECT_EQ(seen.state_roots, std::vector<std::string>{"/the/maco"});
}

TEST(ScanFindings, HaveEveryGitFile) {
  const ScratchDir scratch;
  fs::create_directories(scratch.Path("a/.git"));
  fs::create_directories(scratch.Path("b"));
  Touch(scratch.Path("b/.git"));
  ScanFindings seen;
  ASSERT_TRUE(Scan(scratch, seen).has_value());
  EXPECT_EQ(seen.git_files, std::vector<std::string>{"/the/root/b/.git"});
}

// ADM-01: git asks for no name; it takes any directory of this shape.
TEST(WritableFindings, HaveGitDirectoriesByTheirShape) {
  const ScratchDir scratch;
  for (const char* name : {"bare.git", "deep/er/gd", "no-head", "no-refs", "x/.git/modules/sub"}) {
    fs::create_directories(scratch.Path(std::string(name) + "/objects"));
    fs::create_directories(scratch.Path(std::string(name) + "/refs"));
    Touch(scratch.Path(std::string(name) + "/HEAD"));
  }
  fs::remove(scratch.Path("no-head/HEAD"));
  fs::remove(scratch.Path("no-refs/refs"));
  fs::create_directory_symlink("objects", scratch.Path("no-refs/refs"));  // which git follows
  WritableFindings findings;
  ASSERT_TRUE(Scan(scratch, &findings).has_value());
  std::ranges::sort(findings.git_directories);
  EXPECT_EQ(findings.git_directories,
            (std::vector<std::string>{"/the/root/bare.git", "/the/root/deep/er/gd",
                                      "/the/root/no-refs"}));
  ScanFindings seen;
  WritableFindings fewer;
  EXPECT_EQ(Scan(scratch, seen, &fewer, {.git_entries = 2}).error().code, Code::kLimit);
}

// The names of one level are kept once: not a whole path for each directory that is yet to come.
TEST(TreeScan, ManyDirectoriesBelowALongPathTakeLittleMemory) {
  const ScratchDir scratch;
  auto directory = scratch.dir().Clone();
  for (int level = 0; level < 14; ++level) {
    directory = directory->Create(std::string(250, 'd'), 0700);
    ASSERT_TRUE(directory.has_value());
  }
  constexpr int kDirectories = 20'000;  // 70 MB of paths
  for (int i = 0; i < kDirectories; ++i) {
    ASSERT_EQ(mkdirat(directory->fd(), std::to_string(i).c_str(), 0700), 0);
  }
  EXPECT_EQ(InChild([&]() -> std::string {
              const rlimit limit{64UL << 20U, 64UL << 20U};
              if (setrlimit(RLIMIT_DATA, &limit) != 0) {
                return "no limit";
              }
              ScanFindings seen;
              const auto scanned = ScanTree(scratch.dir(), "/the/root", {}, seen, nullptr);
              return scanned ? std::to_string(seen.directories) : Answer(scanned);
            }),
            std::to_string(kDirectories + 14));
}

TEST(WritableFindings, HaveALimit) {
  const ScratchDir scratch;
  for (const char* name : {"a", "b", "c"}) {
    fs::create_directories(scratch.Path(std::string(name) + "/.git"));
  }
  ScanFindings counts;
  WritableFindings findings;
  EXPECT_TRUE(Scan(scratch, counts, &findings, {.git_entries = 3}).has_value());
  WritableFindings fewer;
  EXPECT_EQ(Scan(scratch, counts, &fewer, {.git_entries = 2}).error().code, Code::kLimit);
}

}  // namespace
}  // namespace maco

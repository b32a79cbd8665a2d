// Locks: they exclude everybody else, also in this process, and never hold a file that was
// replaced. Contract under test: libcommon/os/ofd_lock.h.
#include "libcommon/os/ofd_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "tests/unit/os/in_child.h"
#include "tests/unit/scratch_dir.h"

namespace maco {
namespace {

constexpr int kFlags = O_RDWR | O_CREAT;

Result<UniqueFd> TryOpen(const ScratchDir& scratch) {
  return OfdLock::OpenLocked(scratch.dir(), "lock", kFlags, 0600, false);
}

TEST(OfdLock, ExcludesAnotherDescriptorOfThisProcess) {
  const ScratchDir scratch;
  auto first = TryOpen(scratch);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(TryOpen(scratch).error().code, Code::kBusy);
  first->Reset();
  EXPECT_TRUE(TryOpen(scratch).has_value());
}

TEST(OfdLock, ClosingAnotherDescriptorOfTheFileKeepsIt) {
  // The trap of the older record locks: any close(2) of the file drops them.
  const ScratchDir scratch;
  const auto first = TryOpen(scratch);
  ASSERT_TRUE(first.has_value());
  { const auto other = scratch.dir().OpenFile("lock", O_RDWR); }
  EXPECT_EQ(TryOpen(scratch).error().code, Code::kBusy);
}

TEST(OfdLock, ExcludesAnotherProcess) {
  const ScratchDir scratch;
  auto first = TryOpen(scratch);
  ASSERT_TRUE(first.has_value());
  const auto attempt = [&] { return Answer(TryOpen(scratch)).substr(0, 4); };
  EXPECT_EQ(InChild(attempt), "busy");
  first->Reset();
  EXPECT_EQ(InChild(attempt), "ok");
}

TEST(OfdLock, EndsWithTheProcessThatHeldIt) {
  const ScratchDir scratch;
  EXPECT_EQ(InChild([&] {
              auto held = TryOpen(scratch);
              const std::string answer = Answer(held);
              held->Release();  // never closed: it ends with the process
              return answer;
            }),
            "ok");
  EXPECT_TRUE(TryOpen(scratch).has_value());
}

TEST(OfdLock, LooksWithoutTaking) {
  const ScratchDir scratch;
  auto first = TryOpen(scratch);
  ASSERT_TRUE(first.has_value());
  const auto other = scratch.dir().OpenFile("lock", O_RDONLY);
  ASSERT_TRUE(other.has_value());
  EXPECT_EQ(OfdLock::HeldByOther(other->get()), true);
  EXPECT_EQ(OfdLock::HeldByOther(first->get()), false);
  first->Reset();
  EXPECT_EQ(OfdLock::HeldByOther(other->get()), false);
  EXPECT_TRUE(TryOpen(scratch).has_value());
}

TEST(OfdLock, WaitsForItsTurn) {
  const ScratchDir scratch;
  auto held = TryOpen(scratch);
  ASSERT_TRUE(held.has_value());
  std::atomic<bool> released{false};
  std::thread waiter([&] {
    const auto second = OfdLock::OpenLocked(scratch.dir(), "lock", kFlags, 0600, true);
    EXPECT_TRUE(second.has_value());
    EXPECT_TRUE(released);
  });
  released = true;
  held->Reset();
  waiter.join();
}

TEST(OfdLock, AFileThatWasReplacedIsOpenedAgain) {
  const ScratchDir scratch;
  auto old = TryOpen(scratch);
  ASSERT_TRUE(old.has_value());
  const auto old_identity = IdentityOf(old->get());
  // The old inode stays locked, but the name is another file now.
  ASSERT_TRUE(scratch.dir().OpenFile("new", kFlags, 0600).has_value());
  ASSERT_TRUE(scratch.dir().Rename("new", "lock").has_value());
  const auto fresh = TryOpen(scratch);
  ASSERT_TRUE(fresh.has_value());
  EXPECT_FALSE(IdentityOf(fresh->get())->SameFile(*old_identity));
}

TEST(OfdLock, AWaiterGetsTheFileThatHasTheNameThen) {
  const ScratchDir scratch;
  auto old = TryOpen(scratch);
  ASSERT_TRUE(old.has_value());
  ASSERT_TRUE(scratch.dir().OpenFile("new", kFlags, 0600).has_value());
  const auto new_identity = scratch.dir().Stat("new");
  auto answers = MakePipe();
  ASSERT_TRUE(answers.has_value());
  const pid_t waiter = fork();
  if (waiter == 0) {
    old->Reset();  // inherited, it would keep the lock
    // Opened before the replacement: the parent waits for this byte.
    const auto before = scratch.dir().OpenFile("lock", O_RDWR);
    const bool told = WriteAll(answers->write_end.get(), AsBytes("x")).has_value();
    const auto locked = OfdLock::OpenLocked(scratch.dir(), "lock", kFlags, 0600, true);
    _exit(before && told && locked && IdentityOf(locked->get())->SameFile(*new_identity) ? 0 : 1);
  }
  Bytes byte(1);
  ASSERT_EQ(ReadFull(answers->read_end.get(), byte), 1U);
  ASSERT_TRUE(scratch.dir().Rename("new", "lock").has_value());
  old->Reset();
  int status = -1;
  waitpid(waiter, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(OfdLock, NeedsADescriptorForWriting) {
  const ScratchDir scratch;
  ASSERT_TRUE(TryOpen(scratch).has_value());
  const auto reader = scratch.dir().OpenFile("lock", O_RDONLY);
  EXPECT_EQ(OfdLock::TryLock(reader->get()).error().os_errno, EBADF);
}

TEST(OfdLock, DoesNotFollowALink) {
  const ScratchDir scratch;
  std::filesystem::create_symlink("victim", scratch.Path("lock"));
  EXPECT_EQ(TryOpen(scratch).error().os_errno, ELOOP);
  EXPECT_FALSE(std::filesystem::exists(scratch.Path("victim")));
}

}  // namespace
}  // namespace maco

// A full store lets go: each row can be released when journal, quota or disk are exhausted.
// Contract under test: docs/formats/store.md ("Room for letting go"). SNAP-03.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "tests/unit/store/store_fixture.h"

namespace maco {
namespace {

class StoreRoomTest : public StoreFixture {
 protected:
  // So that bytes, not records, are what runs out.
  void ManyRecords() {
    limits_.journal_bytes = 128 << 10U;
    limits_.journal_records = 10'000;
  }

  static std::string Key(int number) { return "claim/" + std::to_string(number); }

  // Adds rows and changes them until an ordinary commit is refused; the last refusal.
  static Error Fill(Store& store, int* rows) {
    for (int i = 0;; ++i) {
      const auto done = store.Commit(Put(Key(i), TestRow(i, 40)), Durability::kRecord);
      if (!done) {
        *rows = i;
        break;
      }
    }
    for (int i = 0;; ++i) {
      const auto done = store.Commit(Put(Key(i % *rows), TestRow(i, 41)), Durability::kRecord);
      if (!done) {
        return done.error();
      }
    }
  }

  // Replaces each row by a release, then deletes each, with a delta of its own every time.
  static void ReleaseAll(Store& store, int rows) {
    for (int i = 0; i < rows; ++i) {
      // 123 or 124 bytes: a release may put 128.
      const auto done = store.Commit(Release(Key(i), TestRow(i, 98)), Durability::kRecordAndHead);
      ASSERT_TRUE(done) << i << ": " << Describe(done.error());
    }
    for (int i = 0; i < rows; ++i) {
      const auto done = store.Commit(Erase({Key(i)}), Durability::kRecord);
      ASSERT_TRUE(done) << i << ": " << Describe(done.error());
    }
    EXPECT_TRUE(store.table().rows().empty());
  }
};

TEST_F(StoreRoomTest, AtTheQuotaOfRetainedJournalsEveryRowIsReleased) {
  ManyRecords();
  limits_.retained = 2;
  Store store = Create();
  int rows = 0;
  const Error refusal = Fill(store, &rows);
  EXPECT_EQ(rows, 64);
  EXPECT_EQ(refusal.code, Code::kLimit);
  EXPECT_NE(refusal.message.find("takes only releases"), std::string::npos) << refusal.message;
  EXPECT_NE(refusal.remedy.find("git maco journal archive"), std::string::npos);
  EXPECT_EQ(store.locator().retained.size(), 2U);
  ReleaseAll(store, rows);
  EXPECT_LE(store.Fill().active_bytes, limits_.journal_bytes);
  EXPECT_LE(store.Fill().active_records, limits_.journal_records);
  const std::uint64_t generation = store.generation();
  ASSERT_TRUE(store.Close());
  EXPECT_EQ(Read()->generation, generation);
  EXPECT_EQ(Findings(), "");
}

// The same with many small rows and few records, where records and not bytes run out.
TEST_F(StoreRoomTest, WhenRecordsRunOutEveryRowIsReleased) {
  limits_.retained = 1;
  limits_.journal_records = 50;
  Store store = Create();
  int rows = 0;
  EXPECT_EQ(Fill(store, &rows).code, Code::kLimit);
  EXPECT_GT(rows, 5);
  ReleaseAll(store, rows);
  EXPECT_LE(store.Fill().active_records, limits_.journal_records);
}

TEST_F(StoreRoomTest, ReleasesMayGoInAnyOrderAndTogether) {
  limits_.retained = 0;
  limits_.directory_entries = 8;
  Store store = Create();
  int rows = 0;
  EXPECT_EQ(Fill(store, &rows).code, Code::kLimit);
  std::vector<StoreChange> group;
  for (int i = rows - 1; i >= rows / 2; --i) {
    group.push_back(Erase({Key(i)}));
  }
  ASSERT_TRUE(store.CommitGroup(group, Durability::kRecord));
  std::vector<std::string> rest;
  for (int i = 0; i < rows / 2; ++i) {
    rest.push_back(Key(i));
  }
  ASSERT_TRUE(store.Commit(Erase(rest), Durability::kRecord));
  EXPECT_TRUE(store.table().rows().empty());
  EXPECT_TRUE(store.Commit(Put("a", TestRow(1)), Durability::kRecord))
      << "what the releases did not use is free again";
}

TEST_F(StoreRoomTest, AMarkedReleaseIsHeldToItsBounds) {
  Store store = Create();
  ASSERT_TRUE(store.Commit(Put("a", TestRow(1, 4000)), Durability::kRecord));
  EXPECT_EQ(store.Commit(Release("b", TestRow(1)), Durability::kRecord).error().code,
            Code::kInvalid)
      << "it adds a row";
  EXPECT_EQ(store.Commit(Release("a", TestRow(1, 200)), Durability::kRecord).error().code,
            Code::kLimit)
      << "more than release_bytes";
  EXPECT_TRUE(store.Commit(Release("a", TestRow(1, 90)), Durability::kRecord));
}

// Releases that replace the same row again and again use up the room for replacing, never that
// for deleting.
TEST_F(StoreRoomTest, RepeatedReleasesLeaveRoomForDeleting) {
  ManyRecords();
  limits_.retained = 0;
  limits_.directory_entries = 8;
  Store store = Create();
  int rows = 0;
  Fill(store, &rows);
  int replaced = 0;
  while (store.Commit(Release(Key(0), TestRow(replaced, 50)), Durability::kRecord)) {
    ASSERT_LT(++replaced, 10'000);
  }
  EXPECT_GE(replaced, rows);
  for (int i = 0; i < rows; ++i) {
    ASSERT_TRUE(store.Commit(Erase({Key(i)}), Durability::kRecord)) << i;
  }
}

TEST_F(StoreRoomTest, AStoreNeverRollsOverInVain) {
  limits_.journal_bytes = 64 << 10U;
  limits_.retained = 500;
  limits_.directory_entries = 600;
  Store store = Create();
  int rows = 0;
  for (; rows < 64; ++rows) {
    const auto done = store.Commit(Put(Key(rows), TestRow(rows, 1000)), Durability::kRecord);
    if (!done) {
      EXPECT_EQ(done.error().code, Code::kLimit);
      EXPECT_NE(done.error().message.find("three quarters"), std::string::npos);
      break;
    }
  }
  ASSERT_LT(rows, 64);
  const std::uint64_t before = store.locator().active;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(store.Commit(Put(Key(i % rows), TestRow(i, 1000)), Durability::kRecord));
  }
  EXPECT_LE(store.locator().active - before, 100U / 5U) << "several commits to each journal";
}

// No file may grow: what fails then is what would fail on a full disk, but with another errno.
TEST_F(StoreRoomTest, ReleasesNeedNoGrowingFile) {
  limits_.retained = 0;
  limits_.directory_entries = 8;
  Store store = Create();
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(store.Commit(Put(Key(i), TestRow(i, 900)), Durability::kRecord));
  }
  struct stat st {};
  ASSERT_EQ(stat(Path("000001.log").c_str(), &st), 0);
  signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit now{static_cast<rlim_t>(st.st_size), before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &now);
  Result<std::uint64_t> done = 0;
  for (int i = 0; i < 200 && done; ++i) {
    done = store.Commit(Put(Key(i % 40), TestRow(i, 900)), Durability::kRecord);
  }
  EXPECT_EQ(done ? 0 : done.error().os_errno, EFBIG);
  ReleaseAll(store, 40);
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_TRUE(store.Close());
  EXPECT_EQ(Findings(), "");
}

// A file system of its own, one mebibyte large, that is filled to the last byte.
class StoreFullDiskTest : public StoreRoomTest {
 protected:
  void SetUp() override {
    root_path_ = scratch_.Path("disk");
    ASSERT_EQ(mkdir(root_path_.c_str(), 0700), 0);
    ASSERT_EQ(mount("tmpfs", root_path_.c_str(), "tmpfs", 0, "size=1m,mode=0700"), 0)
        << "this test needs root";
    auto disk = Directory::OpenPath(root_path_);
    ASSERT_TRUE(disk);
    disk_ = *std::move(disk);
    root_ = &disk_;
  }
  void TearDown() override {
    disk_ = Directory();
    EXPECT_EQ(umount2(root_path_.c_str(), MNT_DETACH), 0);
  }

  // Fills all but the last `free` bytes, a multiple of 4096.
  void FillDisk(std::size_t free = 0) const {
    const UniqueFd fd(open(Filler().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    const std::string block(4096, 'x');
    off_t size = 0;
    while (write(fd.get(), block.data(), block.size()) > 0) {
      size += 4096;
    }
    ASSERT_EQ(errno, ENOSPC);
    ASSERT_EQ(ftruncate(fd.get(), std::max<off_t>(0, size - static_cast<off_t>(free))), 0);
  }
  void EmptyDisk() const { ASSERT_EQ(unlink(Filler().c_str()), 0); }
  std::string Filler() const { return root_path_ + "/filler"; }

  Directory disk_;
};

TEST_F(StoreFullDiskTest, EveryRowIsReleased) {
  Store store = Create();
  constexpr int kRows = 50;
  for (int i = 0; i < kRows; ++i) {
    ASSERT_TRUE(store.Commit(Put(Key(i), TestRow(i, 100)), Durability::kRecord));
  }
  FillDisk();
  Result<std::uint64_t> done = 0;
  for (int i = 0; done; ++i) {
    done = store.Commit(Put(Key(i % kRows), TestRow(i, 100)), Durability::kRecord);
  }
  EXPECT_EQ(done.error().code, Code::kLimit);
  EXPECT_NE(done.error().message.find("takes only releases"), std::string::npos);
  EXPECT_EQ(done.error().remedy, "free disk space");
  // A writer that comes to the full disk can do the same.
  ASSERT_TRUE(store.Close());
  auto again = Open();
  ASSERT_TRUE(again) << Describe(again.error());
  ReleaseAll(*again, kRows);
  ASSERT_TRUE(again->Close());
  EXPECT_EQ(Findings(), "");
  EmptyDisk();
  EXPECT_TRUE(Open()->Commit(Put("a", TestRow(1)), Durability::kRecord));
}

// As much space as stops a rollover in each of its steps.
TEST_F(StoreFullDiskTest, ARolloverThatFindsNoSpaceChangesNothing) {
  int refused = 0;
  int done = 0;
  for (std::size_t free = 0; free <= std::size_t{160} << 10U; free += 4096) {
    const std::string name = "s" + std::to_string(free);
    limits_.stores = 64;
    Store store = Create(name);
    for (int i = 0; i < 40; ++i) {
      ASSERT_TRUE(store.Commit(Put(Key(i), TestRow(i, 500)), Durability::kRecord));
    }
    FillDisk(free);
    const auto rolled = store.Rollover();
    done += rolled ? 1 : 0;
    if (!rolled) {
      ++refused;
      EXPECT_EQ(rolled.error().code, Code::kLimit) << free;
      EXPECT_EQ(store.locator().active, 1U);
      EXPECT_EQ(Names(name), (std::set<std::string>{"lock", "locator", "000001.log"})) << free;
    }
    EXPECT_EQ(Findings(name), "") << free;
    ReleaseAll(store, 40);
    ASSERT_TRUE(store.Close());
    ASSERT_TRUE(Open(name)) << free;
    EXPECT_EQ(Findings(name), "") << free;
    EmptyDisk();
    ASSERT_TRUE(Open(name)->Rollover()) << free;
    std::filesystem::remove_all(Path("", name));
  }
  EXPECT_GT(refused, 16);
  EXPECT_GT(done, 2);
}

// A rollover was cut short, and then the disk became full: the intent cannot be cleared.
TEST_F(StoreFullDiskTest, AnIntentThatCannotBeClearedIsHarmless) {
  Locator locator;
  {
    Store store = Create();
    ASSERT_TRUE(store.Commit(Put("a", TestRow(1)), Durability::kRecord));
    locator = store.locator();
  }
  locator.prepared = true;
  Save("locator", *EncodeLocator(locator, key_, kTestRepository));
  FillDisk();
  {
    auto store = Open();
    ASSERT_TRUE(store) << Describe(store.error());
    EXPECT_TRUE(store->locator().prepared);
    EXPECT_TRUE(store->Commit(Erase({"a"}), Durability::kRecord));
  }
  EXPECT_EQ(Findings(), "");
  EmptyDisk();
  auto store = Open();
  EXPECT_FALSE(store->locator().prepared);
  EXPECT_TRUE(store->Rollover());
}

TEST_F(StoreFullDiskTest, CreationIsCompletedWhenThereIsSpace) {
  for (std::size_t free = 0; free <= std::size_t{96} << 10U; free += 4096) {
    const std::string name = "s" + std::to_string(free);
    limits_.stores = 64;
    FillDisk(free);
    const auto store = TryCreate(name);
    EmptyDisk();
    if (!store) {
      EXPECT_EQ(store.error().code, Code::kLimit) << free;
      EXPECT_EQ(Open(name).error().code, Code::kNotFound) << free;
    }
    if (store) {
      break;
    }
    ASSERT_TRUE(TryCreate(name)) << free;
    EXPECT_EQ(Findings(name), "");
    std::filesystem::remove_all(Path("", name));
  }
}

}  // namespace
}  // namespace maco

// Crashes and power cuts in each call that writes: creation, commits, rollover, dropping, mending.
// Contract under test: docs/formats/store.md ("What a crash leaves"). SNAP-01, JRN-02.
//
// This program replaces the calls that change files (crash_calls.h). A child counts them and dies
// in one; a power cut also undoes what was not flushed yet, all of it or some. Then the store
// must open, with every commit that was acknowledged. Each flush left out must be noticed, or the
// test proves nothing: FlushesLeftOut below.
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <functional>

#include "tests/unit/store/crash_calls.h"
#include "tests/unit/store/store_fixture.h"

namespace maco {
namespace {

// Thousands of copies are made, and flushes mean nothing here: in memory, where there is room.
[[maybe_unused]] const bool in_memory =
    access("/dev/shm", W_OK) == 0 && setenv("TMPDIR", "/dev/shm", 0) == 0;

// What the child got acknowledged: generations with their flush done.
struct Shared {
  std::uint64_t generation = 0;
};

class StoreCrashTest : public StoreFixture {
 protected:
  void SetUp() override {
    void* memory =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    shared_ = static_cast<Shared*>(memory);
  }
  void TearDown() override { munmap(shared_, sizeof(Shared)); }

  // The state root as it was kept in `from`.
  void Restore(const std::string& from) const {
    std::filesystem::remove_all(scratch_.Path("stores"));
    if (std::filesystem::exists(from)) {
      std::filesystem::copy(from, scratch_.Path("stores"),
                            std::filesystem::copy_options::recursive);
    }
  }
  void Keep(const std::string& to) const {
    std::filesystem::remove_all(to);
    if (std::filesystem::exists(scratch_.Path("stores"))) {
      std::filesystem::copy(scratch_.Path("stores"), to, std::filesystem::copy_options::recursive);
    }
  }

  // Carries `act` out in a child that dies in call number `at`; false if there was no such call.
  bool DiesAt(int at, const std::function<bool()>& act) {
    const pid_t child = fork();
    if (child == 0) {
      calls_left = at;
      armed = true;
      const bool good = act();
      armed = false;
      _exit(good ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_NE(WEXITSTATUS(status), 1) << "the act itself failed";
    return WEXITSTATUS(status) == kDied;
  }

  // Every call of `act`, from what is there now; returns how many there were.
  int CrashEverywhere(const std::function<bool()>& act, const std::function<void()>& check) {
    const std::string start = scratch_.Path("start");
    Keep(start);
    int at = 0;
    for (;; ++at) {
      Restore(start);
      shared_->generation = 0;
      const bool died = DiesAt(at, act);
      SCOPED_TRACE("call " + std::to_string(at) + ", cut " + std::to_string(int(cut)));
      check();
      if (!died || HasFailure()) {
        return at;
      }
    }
  }

  // Row "a" has the number of its generation, and never is a commit lost.
  bool CommitNext(Store& store) {
    const auto next = static_cast<int>(store.generation() + 1);
    const auto done = store.Commit(Put("a", TestRow(next)), Durability::kRecord);
    if (done) {
      shared_->generation = *done;
    }
    return done.has_value();
  }
  void MakeStore(std::size_t big = 6000) {
    Store store = Create();
    StoreChange change = Put("a", TestRow(1));
    change.put["big"] = TestRow(0, big);  // so that a base has more than one sector
    ASSERT_TRUE(store.Commit(change, Durability::kRecordAndHead));
    ASSERT_TRUE(store.Rollover());
    ASSERT_TRUE(CommitNext(store));
    ASSERT_TRUE(store.Rollover());
    ASSERT_TRUE(CommitNext(store));
    ASSERT_TRUE(store.Close());
  }

  // Opens, with all that was acknowledged, and works; nothing that means nothing stays.
  void ExpectRecovered(std::uint64_t at_least) {
    EXPECT_EQ(Findings(), "");
    const auto read = Read();
    EXPECT_TRUE(read) << (read ? "" : Describe(read.error()));
    {
      auto store = Open();
      ASSERT_TRUE(store) << Describe(store.error());
      EXPECT_GE(store->generation(), std::max(at_least, shared_->generation));
      EXPECT_EQ(store->table().Find("a")->at("number"), store->generation());
      EXPECT_EQ(store->table().size().rows, 2U);
      EXPECT_FALSE(store->locator().prepared);
      EXPECT_EQ(Names().size(), 3 + store->locator().retained.size());
      EXPECT_TRUE(CommitNext(*store));
      if (++recovered_ % 4 != 0) {  // the rest only sometimes, to save time
        return;
      }
      EXPECT_TRUE(store->Rollover());
      EXPECT_TRUE(CommitNext(*store));
    }
    EXPECT_EQ(Findings(), "");
  }

  static constexpr Cut kCuts[] = {Cut::kKill, Cut::kHalf, Cut::kLoseAll, Cut::kLoseSome};
  Shared* shared_ = nullptr;
  int recovered_ = 0;
};

TEST_F(StoreCrashTest, CreationIsCompleted) {
  for (const Cut one : kCuts) {
    cut = one;
    std::filesystem::remove_all(scratch_.Path("stores"));
    const int calls = CrashEverywhere(
        [&] {
          auto store = TryCreate();
          return store && store->Close();
        },
        [&] {
          const auto before = Open();
          EXPECT_TRUE(before || before.error().code == Code::kNotFound) << Describe(before.error());
          const auto report = VerifyStore(Access(), kName);
          EXPECT_TRUE(!report || report->intact());
          EXPECT_TRUE(report || report.error().code == Code::kNotFound);
        });
    EXPECT_GT(calls, 15);
    std::filesystem::remove_all(scratch_.Path("stores"));
    std::filesystem::remove_all(scratch_.Path("start"));
    CrashEverywhere([&] { return TryCreate().has_value(); },
                    [&] {
                      {
                        auto store = TryCreate();
                        ASSERT_TRUE(store) << Describe(store.error());
                        EXPECT_TRUE(CommitNext(*store));
                      }
                      EXPECT_EQ(Findings(), "");
                      EXPECT_EQ(Names().size(), 3U);
                    });
    std::filesystem::remove_all(scratch_.Path("start"));
  }
}

TEST_F(StoreCrashTest, CommitsThatWereAcknowledgedStay) {
  MakeStore();
  Keep(scratch_.Path("made"));
  for (const Cut one : kCuts) {
    cut = one;
    Restore(scratch_.Path("made"));
    const int calls = CrashEverywhere(
        [&] {
          auto store = Open();
          return store && CommitNext(*store) && CommitNext(*store) && CommitNext(*store) &&
                 store->Close();
        },
        [&] { ExpectRecovered(3); });
    EXPECT_GT(calls, 8);
  }
}

TEST_F(StoreCrashTest, RolloverIsAllOrNothing) {
  MakeStore();
  Keep(scratch_.Path("made"));
  for (const Cut one : kCuts) {
    cut = one;
    Restore(scratch_.Path("made"));
    const int calls = CrashEverywhere(
        [&] {
          auto store = Open();
          return store && CommitNext(*store) && store->Rollover() && CommitNext(*store) &&
                 store->Close();
        },
        [&] { ExpectRecovered(3); });
    EXPECT_GT(calls, 20);
  }
}

TEST_F(StoreCrashTest, DroppingIsAllOrNothing) {
  MakeStore();
  Keep(scratch_.Path("made"));
  for (const Cut one : kCuts) {
    cut = one;
    Restore(scratch_.Path("made"));
    const int calls = CrashEverywhere(
        [&] {
          auto store = Open();
          return store && store->DropRetained(2, store->locator().retained[1].mac) &&
                 CommitNext(*store) && store->Close();
        },
        [&] { ExpectRecovered(3); });
    EXPECT_GT(calls, 6);
  }
}

// The new journal cannot be written, so the rollover is taken back; that is cut too.
TEST_F(StoreCrashTest, TakingARolloverBackIsAllOrNothing) {
  limits_.row_bytes = 100 << 10U;
  limits_.table_bytes = 200 << 10U;
  limits_.journal_bytes = 1 << 20U;
  MakeStore(56'000);
  Keep(scratch_.Path("made"));
  const auto act = [&] {
    auto store = Open();
    signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit now{66'000, before.rlim_max};  // the log yes, the base no
    setrlimit(RLIMIT_FSIZE, &now);
    const bool refused = store && !store->Rollover();
    setrlimit(RLIMIT_FSIZE, &before);
    return refused && CommitNext(*store) && store->Close();
  };
  for (const Cut one : {Cut::kKill, Cut::kLoseSome}) {
    cut = one;
    Restore(scratch_.Path("made"));
    EXPECT_GT(CrashEverywhere(act, [&] { ExpectRecovered(3); }), 15);
  }
}

// The recovery of a rollover that was cut is itself cut in each call.
TEST_F(StoreCrashTest, MendingMayBeCutToo) {
  MakeStore();
  const std::string made = scratch_.Path("made");
  Keep(made);
  for (const Cut one : {Cut::kKill, Cut::kLoseSome}) {
    for (int first = one == Cut::kKill ? 5 : 6;; first += 4) {
      Restore(made);
      cut = one;
      const bool died = DiesAt(first, [&] {
        auto store = Open();
        return store && store->Rollover();
      });
      if (!died) {
        EXPECT_GT(first, 12);
        break;
      }
      CrashEverywhere([&] { return Open().has_value(); }, [&] { ExpectRecovered(3); });
      if (HasFailure()) {
        return;
      }
    }
  }
}

// Proof that the cuts above can be noticed: without flushes, commits or stores are lost.
TEST_F(StoreCrashTest, FlushesLeftOutAreNoticed) {
  MakeStore();
  Keep(scratch_.Path("made"));
  cut = Cut::kLoseAll;
  const auto damaged = [&] {
    const auto store = Open();
    return !store || store->generation() < shared_->generation;
  };
  const auto act = [&] {
    auto store = Open();
    return store && CommitNext(*store) && store->Rollover() && CommitNext(*store) &&
           CommitNext(*store);
  };
  for (bool* skip : {&skip_file_flush, &skip_directory_flush}) {
    *skip = true;
    int noticed = 0;
    for (int at = 0;; ++at) {
      Restore(scratch_.Path("made"));
      shared_->generation = 0;
      const bool died = DiesAt(at, act);
      noticed += damaged() ? 1 : 0;
      if (!died) {
        break;
      }
    }
    *skip = false;
    EXPECT_GT(noticed, 0);
  }
}

}  // namespace
}  // namespace maco

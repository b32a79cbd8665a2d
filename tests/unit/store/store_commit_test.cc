// Commits: what is there after reopening, what is refused, who may write, what readers see.
// Contract under test: libcommon/store/store.h, store_reader.h. SNAP-01, SNAP-03.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "tests/unit/store/store_fixture.h"

namespace maco {
namespace {

using Texts = std::vector<std::string>;
using StoreCommitTest = StoreFixture;

TEST_F(StoreCommitTest, WhatWasCommittedIsThereAfterReopening) {
  {
    Store store = Create();
    EXPECT_EQ(store.generation(), 0U);
    EXPECT_EQ(store.Commit(Put("b", TestRow(1)), Durability::kRecord), 1U);
    EXPECT_EQ(store.Commit(Put("a", TestRow(2)), Durability::kRecordAndHead), 2U);
    EXPECT_EQ(store.Commit(Put("b", TestRow(3)), Durability::kRecord), 3U);
    EXPECT_EQ(store.Commit(Erase({"a"}), Durability::kRecord), 4U);
    StoreChange both = Put("c", TestRow(4));
    both.erase = {"b"};
    EXPECT_EQ(store.Commit(both, Durability::kRecord), 5U);
    ASSERT_TRUE(store.Close());
    EXPECT_EQ(store.Commit(Put("x", TestRow(1)), Durability::kRecord).error().code,
              Code::kInternal);
  }
  const Texts expected{R"(c={"number":4,"padding":""})"};
  {
    auto store = Open();
    ASSERT_TRUE(store) << store.error().message;
    EXPECT_EQ(Rows(store->table()), expected);
    EXPECT_EQ(store->generation(), 5U);
    EXPECT_EQ(store->Commit(Erase({"c"}), Durability::kRecord), 6U);
  }
  EXPECT_EQ(Findings(), "");
  EXPECT_EQ(Read()->generation, 6U);
  EXPECT_TRUE(Read()->table.rows().empty());
  EXPECT_EQ(Names(), (std::set<std::string>{"lock", "locator", "000001.log"}));
}

TEST_F(StoreCommitTest, FilesArePrivate) {
  Create();
  struct stat st {};
  for (const char* file : {"lock", "locator", "000001.log"}) {
    ASSERT_EQ(lstat(Path(file).c_str(), &st), 0);
    EXPECT_EQ(st.st_mode & 07777U, 0600U) << file;
  }
  for (const std::string& path : {Path(), scratch_.Path("stores")}) {
    ASSERT_EQ(lstat(path.c_str(), &st), 0);
    EXPECT_EQ(st.st_mode & 07777U, 0700U) << path;
  }
}

TEST_F(StoreCommitTest, AGroupIsSeveralGenerationsOrNone) {
  Store store = Create();
  const StoreChange good[] = {Put("a", TestRow(1)), Put("b", TestRow(2)), Erase({"a"})};
  EXPECT_EQ(store.CommitGroup(good, Durability::kRecord), 3U);
  const StoreChange bad[] = {Put("c", TestRow(3)), Erase({"b"}), Erase({"missing"})};
  EXPECT_EQ(store.CommitGroup(bad, Durability::kRecord).error().code, Code::kNotFound);
  EXPECT_EQ(store.CommitGroup({}, Durability::kRecord).error().code, Code::kInvalid);
  EXPECT_EQ(Rows(store.table()), Texts{R"(b={"number":2,"padding":""})"});
  EXPECT_EQ(store.generation(), 3U);
  ASSERT_TRUE(store.Close());
  EXPECT_EQ(Rows(Read()->table), Texts{R"(b={"number":2,"padding":""})"});
  EXPECT_EQ(Findings(), "");
}

TEST_F(StoreCommitTest, BadChangesAreRefusedAndLeaveTheStoreUsable) {
  Store store = Create();
  ASSERT_TRUE(store.Commit(Put("a", TestRow(1)), Durability::kRecord));
  const std::uint64_t end = store.Fill().active_bytes;
  const auto refused = [&](const StoreChange& change) {
    const auto done = store.Commit(change, Durability::kRecord);
    return done ? Code::kInternal : done.error().code;
  };
  EXPECT_EQ(refused({}), Code::kInvalid) << "changes nothing";
  EXPECT_EQ(refused(Put("", TestRow(1))), Code::kInvalid);
  EXPECT_EQ(refused(Put(std::string(513, 'k'), TestRow(1))), Code::kInvalid);
  EXPECT_EQ(refused(Put("tab\t", TestRow(1))), Code::kInvalid);
  EXPECT_EQ(refused(Put("\xff", TestRow(1))), Code::kInvalid);
  EXPECT_EQ(refused(Put("b", Json::array())), Code::kInvalid);
  EXPECT_EQ(refused(Put("b", Json{{"fraction", 1.5}})), Code::kInvalid);
  EXPECT_EQ(refused(Erase({"a", "a"})), Code::kInvalid);
  EXPECT_EQ(refused(Erase({"b"})), Code::kNotFound);
  StoreChange both = Put("a", TestRow(2));
  both.erase = {"a"};
  EXPECT_EQ(refused(both), Code::kInvalid);
  Json deep = Json::object();
  for (int i = 0; i < 40; ++i) {
    deep = Json{{"d", deep}};
  }
  EXPECT_EQ(refused(Put("b", deep)), Code::kLimit);
  EXPECT_EQ(store.Fill().active_bytes, end) << "nothing was written";
  EXPECT_EQ(store.Commit(Put(std::string(512, 'k'), TestRow(1)), Durability::kRecord), 2U);
  EXPECT_EQ(store.Commit(Put("\"\\\xc3\xa4", TestRow(1)), Durability::kRecord), 3U);
  ASSERT_TRUE(store.Close());
  EXPECT_EQ(Read()->table.size().rows, 3U);
  EXPECT_EQ(Findings(), "");
}

TEST_F(StoreCommitTest, RowsHaveTheSameTypesBeforeAndAfterReopening) {
  Store store = Create();
  ASSERT_TRUE(store.Commit(Put("a", Json{{"n", int{5}}}), Durability::kRecord));
  EXPECT_TRUE(store.table().Find("a")->at("n").is_number_unsigned());
  ASSERT_TRUE(store.Close());
  EXPECT_TRUE(Read()->table.Find("a")->at("n").is_number_unsigned());
  EXPECT_EQ(Read()->table.Find("b"), nullptr);
}

TEST_F(StoreCommitTest, ASecondWriterIsRefusedAndReadersAreNot) {
  Store store = Create();
  ASSERT_TRUE(store.Commit(Put("a", TestRow(1)), Durability::kRecord));
  EXPECT_EQ(OpenError().code, Code::kBusy);
  EXPECT_EQ(TryCreate().error().code, Code::kBusy);
  EXPECT_EQ(Read()->generation, 1U);
  EXPECT_EQ(Findings(), "");
  ASSERT_TRUE(store.Close());
  EXPECT_TRUE(Open());
}

// The lock file is gone, so the new one locks nothing; the journal's own lock still holds.
TEST_F(StoreCommitTest, AWriterThatLostTheLockFileStillExcludesOthers) {
  Store store = Create();
  ASSERT_EQ(unlink(Path("lock").c_str()), 0);
  EXPECT_EQ(OpenError().code, Code::kCorrupt);
  Save("lock", "");
  EXPECT_EQ(OpenError().code, Code::kBusy);
  EXPECT_EQ(store.Commit(Put("a", TestRow(1)), Durability::kRecord), 1U);
}

TEST_F(StoreCommitTest, OpeningCreatesNothing) {
  EXPECT_EQ(OpenError().code, Code::kNotFound);
  EXPECT_EQ(Read().error().code, Code::kNotFound);
  EXPECT_EQ(VerifyStore(Access(), kName).error().code, Code::kNotFound);
  EXPECT_TRUE(ListStores(Access())->names.empty());
  EXPECT_TRUE(scratch_.dir().List(10)->empty());
  for (const char* name : {"", "Claims", "1st", "a/b", "..", "a.b", "lock-"}) {
    const bool good = std::string(name) == "lock-";
    EXPECT_EQ(OpenError(name).code, good ? Code::kNotFound : Code::kInvalid) << name;
  }
  EXPECT_EQ(TryCreate(std::string(33, 'a')).error().code, Code::kInvalid);
}

TEST_F(StoreCommitTest, AnotherKeyOrRepositoryIsRefused) {
  ASSERT_TRUE(Create().Commit(Put("a", TestRow(1)), Durability::kRecord));
  const Key other = StoreTestKey(1);
  for (const StoreAccess& access : {StoreAccess{&scratch_.dir(), &other, kTestRepository},
                                    StoreAccess{&scratch_.dir(), &key_, "another"}}) {
    EXPECT_EQ(Store::Open(access, kName, {}).error().code, Code::kCorrupt);
    EXPECT_EQ(ReadStore(access, kName).error().code, Code::kCorrupt);
    EXPECT_FALSE(VerifyStore(access, kName)->intact());
  }
  EXPECT_EQ(Findings(), "");
}

TEST_F(StoreCommitTest, AStoreOfAnotherNameIsRefused) {
  Create();
  std::filesystem::rename(Path(), Path("", "lanes"));
  const Error error = OpenError("lanes");
  EXPECT_EQ(error.code, Code::kCorrupt);
  EXPECT_NE(error.message.find("it belongs to store 'claims'"), std::string::npos);
}

TEST_F(StoreCommitTest, StoresAreListedAndCounted) {
  for (const char* name : {"lanes", "claims", "intents", "effects"}) {
    Create(name);
  }
  const auto fifth = TryCreate("more");
  EXPECT_EQ(fifth.error().code, Code::kLimit);
  EXPECT_FALSE(std::filesystem::exists(Path("", "more"))) << "SNAP-03: no residue";
  EXPECT_TRUE(Open("lanes")) << "the ones that are there stay usable";
  std::filesystem::create_directory(scratch_.Path("stores/Foreign"));
  const auto list = ListStores(Access());
  EXPECT_EQ(list->names, (Texts{"claims", "effects", "intents", "lanes"}));
  EXPECT_EQ(list->foreign, Texts{"Foreign"});
}

TEST_F(StoreCommitTest, QuotasOfRowsAndBytesRefuseGrowthOnly) {
  limits_.rows = 3;
  limits_.table_bytes = 4096;
  Store store = Create();
  for (const char* key : {"a", "b", "c"}) {
    ASSERT_TRUE(store.Commit(Put(key, TestRow(1, 1000)), Durability::kRecord));
  }
  const std::uint64_t end = store.Fill().active_bytes;
  EXPECT_EQ(store.Commit(Put("d", TestRow(1)), Durability::kRecord).error().code, Code::kLimit);
  EXPECT_EQ(store.Commit(Put("a", TestRow(1, 2500)), Durability::kRecord).error().code,
            Code::kLimit);
  EXPECT_EQ(store.Commit(Put("a", TestRow(1, 9000)), Durability::kRecord).error().code,
            Code::kLimit);
  EXPECT_EQ(store.Fill().active_bytes, end) << "nothing was written";
  EXPECT_TRUE(store.Commit(Put("a", TestRow(2, 1000)), Durability::kRecord));
  ASSERT_TRUE(store.Close());
  limits_.rows = 1;
  limits_.table_bytes = 100;
  auto lowered = Open();
  ASSERT_TRUE(lowered) << "a store above its limits opens";
  EXPECT_TRUE(lowered->Commit(Put("a", TestRow(3, 999)), Durability::kRecord)) << "and may shrink";
  EXPECT_EQ(lowered->Commit(Put("a", TestRow(3, 1001)), Durability::kRecord).error().code,
            Code::kLimit);
  EXPECT_TRUE(lowered->Commit(Erase({"a", "b", "c"}), Durability::kRecord));
}

TEST_F(StoreCommitTest, LimitsThatContradictEachOtherAreRefused) {
  limits_.directory_entries = limits_.retained;
  EXPECT_EQ(TryCreate().error().code, Code::kInvalid);
  limits_ = SmallLimits();
  limits_.row_bytes = 1 << 20U;
  EXPECT_EQ(TryCreate().error().code, Code::kInvalid);
  EXPECT_TRUE(scratch_.dir().List(10)->empty());
}

// A writer commits and rolls over without pause; each table that a reader gets is a whole one.
TEST_F(StoreCommitTest, ReadersBesideAWriterSeeWholeGenerations) {
  limits_.journal_records = 20;
  limits_.retained = 500;
  limits_.directory_entries = 600;
  constexpr int kCommits = 600;
  ASSERT_TRUE(Create().Commit(Put("a", TestRow(0)), Durability::kRecord));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto store = Open();
    bool good = store.has_value();
    for (int i = 1; good && i <= kCommits; ++i) {
      StoreChange change = Put("a", TestRow(i));
      change.put["b"] = TestRow(i);
      good = store->Commit(change, Durability::kRecord).has_value();
    }
    _exit(good ? 0 : 1);
  }
  int status = 0;
  std::uint64_t last = 0;
  do {
    const auto snapshot = Read();
    ASSERT_TRUE(snapshot) << snapshot.error().message;
    EXPECT_GE(snapshot->generation, last);
    last = snapshot->generation;
    if (last > 1) {
      EXPECT_EQ(snapshot->table.Find("a")->at("number"), last - 1);
      EXPECT_EQ(*snapshot->table.Find("a"), *snapshot->table.Find("b"));
    }
    EXPECT_EQ(Findings(), "");
  } while (waitpid(child, &status, WNOHANG) == 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(Read()->generation, kCommits + 1U);
  EXPECT_GT(Read()->locator.retained.size(), 30U);
  EXPECT_EQ(Findings(), "");
}

TEST_F(StoreCommitTest, WritersThatWaitTakeTurns) {
  constexpr int kProcesses = 3;
  constexpr int kCommits = 30;
  limits_.journal_records = 40;
  limits_.retained = 100;
  limits_.directory_entries = 200;
  limits_.rows = 4;
  for (int p = 0; p < kProcesses; ++p) {
    if (fork() == 0) {  // all of them also try to create it
      int failures = 0;
      for (int i = 0; i < kCommits; ++i) {
        auto store = Store::Open(Access(), kName,
                                 {.create = true, .lock = LogLock::kWait, .limits = limits_});
        failures +=
            !store || !store->Commit(Put("p" + std::to_string(p), TestRow(i)), Durability::kRecord);
      }
      _exit(failures == 0 ? 0 : 1);
    }
  }
  int status = 0;
  while (wait(&status) > 0) {
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(Read()->generation, std::uint64_t{kProcesses * kCommits});
  EXPECT_EQ(Findings(), "");
}

}  // namespace
}  // namespace maco

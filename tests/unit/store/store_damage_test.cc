// What is put back, exchanged, removed, added or changed in a store's directory is refused.
// Contract under test: docs/formats/store.md ("Valid if and only if"). SNAP-02.
#include <gtest/gtest.h>

#include "tests/unit/store/store_fixture.h"

namespace maco {
namespace {

// A store with two closed journals and an active one, generation 4.
class StoreDamageTest : public StoreFixture {
 protected:
  void SetUp() override {
    Store store = Create();
    ASSERT_TRUE(store.Commit(Put("a", TestRow(1)), Durability::kRecord));
    locators_.push_back(Load("locator"));
    ASSERT_TRUE(store.Rollover());
    ASSERT_TRUE(store.Commit(Put("b", TestRow(2)), Durability::kRecord));
    ASSERT_TRUE(store.Commit(Put("a", TestRow(3)), Durability::kRecord));
    locators_.push_back(Load("locator"));
    ASSERT_TRUE(store.Rollover());
    ASSERT_TRUE(store.Commit(Put("c", TestRow(4)), Durability::kRecord));
    locator_ = store.locator();
  }

  // Opening, reading and verifying all refuse, with this code and these words, and change nothing.
  void ExpectRefused(Code code, const std::string& words, const std::string& what) {
    const auto names = Names();
    const Error opened = OpenError();
    EXPECT_EQ(opened.code, code) << what << ": " << opened.message;
    EXPECT_NE(opened.message.find(words), std::string::npos) << what << ": " << opened.message;
    EXPECT_FALSE(opened.remedy.empty()) << what << ": " << opened.message;
    const auto read = Read();
    ASSERT_FALSE(read) << what;
    EXPECT_EQ(read.error().code, code) << what;
    EXPECT_NE(read.error().message.find(words), std::string::npos) << what;
    EXPECT_NE(Findings().find(words), std::string::npos) << what << ": " << Findings();
    EXPECT_EQ(Names(), names) << what;
  }
  void ExpectIntact(const std::string& what) {
    EXPECT_EQ(Findings(), "") << what;
    const auto store = Open();
    ASSERT_TRUE(store) << what << ": " << Describe(store.error());
    EXPECT_EQ(store->generation(), 4U) << what;
  }

  void SaveLocator(const Locator& locator) {
    Save("locator", *EncodeLocator(locator, key_, kTestRepository));
  }

  std::vector<std::string> locators_;  // older ones
  Locator locator_;
};

TEST_F(StoreDamageTest, WhatIsNotDamaged) { ExpectIntact("nothing done"); }

TEST_F(StoreDamageTest, AnOlderLocatorIsRefused) {
  const std::string newest = Load("locator");
  for (const std::string& older : locators_) {
    Save("locator", older);
    ExpectRefused(Code::kCorrupt, "an older locator was put back", "replay");
  }
  Save("locator", newest);
  ExpectIntact("the newest is back");
}

// The one that was there for a moment in the middle of a rollover: it says that journal 3 was never
// active, so without the check its commits would be thrown away.
TEST_F(StoreDamageTest, AnOlderLocatorOfARolloverIsRefused) {
  Locator prepared = locator_;
  prepared.prepared = true;
  prepared.active = 2;
  prepared.active_log_id = locator_.retained[1].log_id;
  prepared.retained.pop_back();
  const std::string newest = Load("locator");
  SaveLocator(prepared);
  const auto names = Names();
  EXPECT_EQ(OpenError().code, Code::kCorrupt);
  EXPECT_NE(OpenError().message.find("an older locator was put back"), std::string::npos);
  EXPECT_NE(Findings().find("an older locator was put back"), std::string::npos);
  EXPECT_EQ(Names(), names) << "nothing was removed";
  Save("locator", newest);
  ExpectIntact("the newest is back");
}

TEST_F(StoreDamageTest, AMissingJournalIsRefused) {
  for (const char* name : {"000001.log", "000002.log", "000003.log"}) {
    const std::string bytes = Load(name);
    ASSERT_EQ(unlink(Path(name).c_str()), 0);
    ExpectRefused(Code::kCorrupt, std::string(name) + "' is missing", name);
    Save(name, bytes);
    ExpectIntact(name);
  }
}

TEST_F(StoreDamageTest, AMissingLocatorOrLockIsRefused) {
  const std::string locator = Load("locator");
  ASSERT_EQ(unlink(Path("locator").c_str()), 0);
  ExpectRefused(Code::kCorrupt, "has journals but no locator", "locator");
  EXPECT_EQ(TryCreate().error().code, Code::kCorrupt) << "it is not made anew either";
  Save("locator", locator);
  ASSERT_EQ(unlink(Path("lock").c_str()), 0);
  ExpectRefused(Code::kCorrupt, "lock' is missing", "lock");
  EXPECT_EQ(TryCreate().error().code, Code::kCorrupt);
  Save("lock", "");
  ExpectIntact("all is back");
}

// Another log for the same journal of the same store, made with the right key.
TEST_F(StoreDamageTest, AnExchangedActiveJournalIsRefused) {
  const std::string bytes = Load("000003.log");
  ASSERT_EQ(unlink(Path("000003.log").c_str()), 0);
  {
    auto store = Directory::OpenPath(Path());
    auto log =
        LogWriter::Create(*store, "000003.log", key_, JournalIdentity(kTestRepository, kName, 3));
    ASSERT_TRUE(log);
  }
  ExpectRefused(Code::kCorrupt, "was exchanged", "active");
  Save("000003.log", bytes);
  ExpectIntact("all is back");
}

TEST_F(StoreDamageTest, JournalsInEachOthersPlaceAreRefused) {
  const std::string two = Load("000002.log");
  const std::string three = Load("000003.log");
  Save("000003.log", two);
  EXPECT_EQ(OpenError().code, Code::kCorrupt);
  EXPECT_EQ(Read().error().code, Code::kCorrupt);
  Save("000003.log", three);
  Save("000001.log", two);
  EXPECT_NE(Findings().find("000001.log"), std::string::npos);
}

TEST_F(StoreDamageTest, AForeignNameIsRefused) {
  for (const char* name : {"notes", "000004", "1.log", "0000004.log", "000000.log", ".hidden",
                           "locator~", "00000a.log"}) {
    Save(name, "x");
    ExpectRefused(Code::kCorrupt, "is foreign", name);
    ASSERT_EQ(unlink(Path(name).c_str()), 0);
  }
  ASSERT_EQ(mkdir(Path("000004.log.d").c_str(), 0700), 0);
  ExpectRefused(Code::kCorrupt, "is foreign", "a directory");
  ASSERT_EQ(rmdir(Path("000004.log.d").c_str()), 0);
  ExpectIntact("all are gone");
}

TEST_F(StoreDamageTest, AJournalThatNoLocatorNamesIsRefused) {
  Save("000004.log", Load("000003.log"));
  ExpectRefused(Code::kCorrupt, "is not known to the locator", "next");
  ASSERT_EQ(rename(Path("000004.log").c_str(), Path("000009.log").c_str()), 0);
  ExpectRefused(Code::kCorrupt, "is not known to the locator", "later");
}

TEST_F(StoreDamageTest, UnsafeFilesAreRefused) {
  for (const char* name : {"lock", "locator", "000001.log", "000003.log"}) {
    const std::string path = Path(name);
    ASSERT_EQ(chmod(path.c_str(), 0640), 0);
    ExpectRefused(Code::kPermission, "is not private to you", name);
    ASSERT_EQ(chmod(path.c_str(), 0600), 0);
    ASSERT_EQ(link(path.c_str(), scratch_.Path("alias").c_str()), 0);
    ExpectRefused(Code::kPermission, "has another name", name);
    ASSERT_EQ(unlink(scratch_.Path("alias").c_str()), 0);
    ASSERT_EQ(chown(path.c_str(), 12'345, 12'345), 0);
    ExpectRefused(Code::kPermission, "is not private to you", name);
    ASSERT_EQ(chown(path.c_str(), geteuid(), getegid()), 0);
  }
  ExpectIntact("all is back");
}

TEST_F(StoreDamageTest, OtherKindsOfFilesAreRefused) {
  for (const char* name : {"lock", "locator", "000001.log", "000003.log"}) {
    const std::string path = Path(name);
    const std::string aside = scratch_.Path("aside");
    ASSERT_EQ(rename(path.c_str(), aside.c_str()), 0);
    const auto refused = [&](const char* kind) {
      EXPECT_EQ(OpenError().code, Code::kPermission) << name << kind << OpenError().message;
      EXPECT_EQ(Read().error().code, Code::kPermission) << name << kind;
      EXPECT_NE(Findings().find("is not a regular file"), std::string::npos) << name << kind;
    };
    ASSERT_EQ(symlink(aside.c_str(), path.c_str()), 0);
    refused(" link");
    ASSERT_EQ(unlink(path.c_str()), 0);
    ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
    refused(" fifo");
    ASSERT_EQ(unlink(path.c_str()), 0);
    ASSERT_EQ(mkdir(path.c_str(), 0700), 0);
    refused(" directory");
    ASSERT_EQ(rmdir(path.c_str()), 0);
    ASSERT_EQ(rename(aside.c_str(), path.c_str()), 0);
  }
  ExpectIntact("all is back");
}

TEST_F(StoreDamageTest, DirectoriesOfOthersAreRefused) {
  for (const std::string& path : {Path(), scratch_.Path("stores")}) {
    ASSERT_EQ(chmod(path.c_str(), 0750), 0);
    EXPECT_EQ(OpenError().code, Code::kPermission);
    EXPECT_EQ(TryCreate().error().code, Code::kPermission);
    EXPECT_EQ(Read().error().code, Code::kPermission);
    ASSERT_EQ(chmod(path.c_str(), 0700), 0);
    const std::string aside = scratch_.Path("aside");
    ASSERT_EQ(rename(path.c_str(), aside.c_str()), 0);
    ASSERT_EQ(symlink(aside.c_str(), path.c_str()), 0);
    EXPECT_EQ(OpenError().code, Code::kIo) << "no link is followed";
    ASSERT_EQ(unlink(path.c_str()), 0);
    ASSERT_EQ(rename(aside.c_str(), path.c_str()), 0);
  }
  ExpectIntact("all is back");
}

TEST_F(StoreDamageTest, LeftoversOfACrashAreRemovedByTheNextWriterOnly) {
  Save(".tmp-0123", "half a locator");
  ASSERT_EQ(symlink("/nowhere", Path(".tmp-link").c_str()), 0);
  EXPECT_TRUE(Read());
  EXPECT_EQ(Findings(), "");
  EXPECT_TRUE(Names().contains(".tmp-0123"));
  ExpectIntact("with leftovers");
  EXPECT_FALSE(Names().contains(".tmp-0123"));
  EXPECT_FALSE(Names().contains(".tmp-link"));
}

// Each byte of the locator counts; blanks between its members would not.
TEST_F(StoreDamageTest, AChangedLocatorIsRefused) {
  const std::string good = Load("locator");
  for (std::size_t at = 0; at < good.size(); at += 7) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    Save("locator", bad);
    const Error error = OpenError();
    EXPECT_EQ(error.code, Code::kCorrupt) << at << ": " << error.message;
  }
  for (const std::string& bad : {std::string(), good.substr(0, good.size() / 2), good + "x",
                                 std::string(2 << 20U, ' ') + good}) {
    Save("locator", bad);
    ExpectRefused(Code::kCorrupt, "locator of store 'claims'", "cut or extended");
  }
  Save("locator", good);
  ExpectIntact("all is back");
}

TEST_F(StoreDamageTest, AChangedByteInAnyJournalIsFound) {
  for (const char* name : {"000001.log", "000002.log", "000003.log"}) {
    const std::string good = Load(name);
    const std::string used = good.substr(0, good.find_last_not_of('\0') + 1);
    for (std::size_t at = 0; at < used.size(); at += at < 12'288 && at % 4096 > 300 ? 1201 : 17) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ 0x40);
      Save(name, bad);
      EXPECT_FALSE(Verify().intact()) << name << " at " << at;
      if (std::string(name) == "000003.log") {
        EXPECT_FALSE(Read()) << at;
      }
    }
    Save(name, good);
  }
  ExpectIntact("all is back");
}

// Whole records cut from the end, with heads that fit: only the anchor tells.
TEST_F(StoreDamageTest, ATruncatedRetainedJournalIsFound) {
  Locator other = locator_;
  ++other.retained[1].sequence;  // as if there had been one more
  SaveLocator(other);
  EXPECT_NE(Findings().find("its last record is not the one"), std::string::npos) << Findings();
  other = locator_;
  other.retained[1].mac[0] ^= 1U;
  SaveLocator(other);
  EXPECT_NE(Findings().find("its last record is not the one"), std::string::npos) << Findings();
  const std::string good = Load("000002.log");
  SaveLocator(locator_);
  Save("000002.log", good.substr(0, 12'300));
  EXPECT_NE(Findings().find("000002.log"), std::string::npos);
}

TEST_F(StoreDamageTest, ATruncatedActiveJournalIsRefused) {
  const std::string good = Load("000003.log");
  const std::size_t used = good.find_last_not_of('\0') + 1;
  for (const std::size_t size :
       {used - 1, std::size_t{12'289}, std::size_t{8192}, std::size_t{9}}) {
    Save("000003.log", good.substr(0, size));
    EXPECT_EQ(OpenError().code, Code::kCorrupt) << size;
    EXPECT_EQ(Read().error().code, Code::kCorrupt) << size;
    EXPECT_NE(OpenError().message.find("stores/claims/000003.log"), std::string::npos);
  }
  Save("000003.log", good + "x");
  EXPECT_EQ(OpenError().code, Code::kTornTail);
  EXPECT_NE(OpenError().remedy.find("repair"), std::string::npos);
  Save("000003.log", good);
  ExpectIntact("all is back");
}

TEST_F(StoreDamageTest, OneDamagedStoreLeavesTheOthersAlone) {
  Create("lanes");
  Save("locator", "x");
  EXPECT_EQ(OpenError().code, Code::kCorrupt);
  EXPECT_TRUE(Open("lanes"));
  EXPECT_TRUE(TryCreate("intents"));
}

}  // namespace
}  // namespace maco

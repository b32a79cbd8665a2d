// Journals made by hand, with the right key and wrong content: what MACs alone do not tell.
// Contract under test: docs/formats/store.md ("Valid if and only if", 3 to 5). SNAP-02.
#include <gtest/gtest.h>

#include "libcommon/store/store_journal.h"
#include "libcommon/store/store_record.h"
#include "tests/unit/store/store_fixture.h"

namespace maco {
namespace {

using Kind = StoreRecord::Kind;

std::map<std::string, Row> RowsOf(const std::map<std::string, Json>& values) {
  std::map<std::string, Row> rows;
  for (const auto& [key, value] : values) {
    rows[key] = RowOf(value);
  }
  return rows;
}

StoreRecord Base(std::uint64_t generation, const std::map<std::string, Json>& rows) {
  StoreRecord record;
  record.kind = Kind::kBase;
  record.generation = generation;
  record.change.put = RowsOf(rows);
  return record;
}

StoreRecord Delta(std::uint64_t generation, const std::string& key, int number) {
  StoreRecord record;
  record.generation = generation;
  record.change.put[key] = RowOf(TestRow(number));
  return record;
}

StoreRecord BaseEnd(std::uint64_t generation, const std::map<std::string, Json>& rows) {
  Table table;
  StoreRecord record;
  record.kind = Kind::kBaseEnd;
  record.generation = generation;
  record.rows = rows.size();
  EXPECT_TRUE(rows.empty() || table.Apply({RowsOf(rows), {}}));
  record.digest = *table.ComputeDigest();
  return record;
}

class StoreVerifyTest : public StoreFixture {
 protected:
  void SetUp() override {
    Create();  // for its directory and lock
    ASSERT_EQ(unlink(Path("000001.log").c_str()), 0);
    directory_ = *Directory::OpenPath(Path());
    locator_.store = kName;
  }

  // A journal of these records, which becomes the active one; the one before is retained.
  void Add(const std::vector<StoreRecord>& records) {
    const std::uint64_t n = locator_.active + 1;
    auto log = LogWriter::Create(directory_, JournalName(n), key_,
                                 JournalIdentity(kTestRepository, kName, n));
    ASSERT_TRUE(log);
    for (const StoreRecord& record : records) {
      const auto text = EncodeRecord(record);
      ASSERT_TRUE(text);
      ASSERT_TRUE(log->Append(AsBytes(*text), Durability::kRecord));
    }
    if (last_) {
      locator_.retained.push_back(*last_);
    }
    last_ = RetainedJournal{n,
                            log->log_id(),
                            records.front().generation,
                            records.back().generation,
                            log->last_sequence(),
                            log->last_mac()};
    locator_.active = n;
    locator_.active_log_id = log->log_id();
    ASSERT_TRUE(log->Close());
    Save("locator", *EncodeLocator(locator_, key_, kTestRepository));
  }

  void ExpectActiveRefused(const std::string& words) {
    const Error error = OpenError();
    EXPECT_EQ(error.code, Code::kCorrupt);
    EXPECT_NE(error.message.find(words), std::string::npos) << error.message;
    EXPECT_EQ(Read().error().code, Code::kCorrupt);
    EXPECT_NE(Findings().find(words), std::string::npos) << Findings();
  }

  Directory directory_;
  Locator locator_;
  std::optional<RetainedJournal> last_;
  const std::map<std::string, Json> rows_{{"a", TestRow(1)}, {"b", TestRow(2)}};
};

TEST_F(StoreVerifyTest, AHandMadeStoreIsIntact) {
  Add({BaseEnd(0, {}), Delta(1, "a", 1), Delta(2, "b", 2)});
  Add({Base(2, {{"a", TestRow(1)}}), Base(2, {{"b", TestRow(2)}}), BaseEnd(2, rows_),
       Delta(3, "c", 3)});
  EXPECT_EQ(Findings(), "");
  EXPECT_EQ(Open()->generation(), 3U);
}

TEST_F(StoreVerifyTest, ABaseThatIsNotThePreviousTableIsFound) {
  Add({BaseEnd(0, {}), Delta(1, "a", 1), Delta(2, "b", 3)});
  Add({Base(2, rows_), BaseEnd(2, rows_), Delta(3, "c", 3)});
  EXPECT_TRUE(Open()) << "opening does not read closed journals";
  const StoreReport report = Verify();
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_NE(report.findings[0].message.find("not the table that the journal before it ended with"),
            std::string::npos);
  EXPECT_FALSE(report.journals[1].intact);
  EXPECT_TRUE(report.journals[0].intact);
}

TEST_F(StoreVerifyTest, AGapInTheGenerationsIsRefused) {
  Add({BaseEnd(0, {}), Delta(1, "a", 1), Delta(3, "b", 2)});
  ExpectActiveRefused("generations do not count up");
}

TEST_F(StoreVerifyTest, ARepeatedGenerationIsRefused) {
  Add({BaseEnd(0, {}), Delta(1, "a", 1), Delta(1, "b", 2)});
  ExpectActiveRefused("generations do not count up");
}

TEST_F(StoreVerifyTest, AGapBetweenJournalsIsRefused) {
  Add({BaseEnd(0, {}), Delta(1, "a", 1), Delta(2, "b", 2)});
  Add({Base(3, rows_), BaseEnd(3, rows_)});
  ExpectActiveRefused("begins with generation 3, the one before ended with 2");
}

TEST_F(StoreVerifyTest, AGapInAClosedJournalIsFound) {
  Add({BaseEnd(0, {}), Delta(2, "a", 1), Delta(3, "b", 2)});
  Add({Base(3, rows_), BaseEnd(3, rows_)});
  EXPECT_TRUE(Open());
  EXPECT_NE(Findings().find("generations do not count up"), std::string::npos);
}

TEST_F(StoreVerifyTest, AnchorsOfOtherGenerationsAreFound) {
  Add({BaseEnd(0, {}), Delta(1, "a", 1), Delta(2, "b", 2)});
  last_->last_generation = 5;
  Add({Base(5, rows_), BaseEnd(5, rows_)});
  EXPECT_NE(Findings().find("its generations are not those"), std::string::npos) << Findings();
}

TEST_F(StoreVerifyTest, ABrokenBaseIsRefused) {
  struct Case {
    std::vector<StoreRecord> records;
    const char* words;
  };
  StoreRecord erases = Delta(1, "a", 1);
  erases.change.erase = {"missing"};
  StoreRecord unsorted = Delta(3, "c", 1);
  unsorted.change.erase = {"b", "a"};
  StoreRecord key = Delta(1, "a\x01", 1);
  StoreRecord row = Delta(1, "a", 1);
  row.change.put["a"] = RowOf(1);
  StoreRecord more = BaseEnd(0, {});
  more.rows = 1;
  const Case cases[] = {
      {{Base(0, rows_)}, "its base has no end"},
      {{Base(0, rows_), BaseEnd(0, {})}, "has not the rows"},
      {{more}, "has not the rows"},
      {{Base(0, rows_), BaseEnd(1, rows_)}, "with another generation"},
      {{Base(0, {{"a", TestRow(1)}}), Base(1, {{"b", TestRow(2)}}), BaseEnd(0, rows_)},
       "two generations"},
      {{Base(0, {{"b", TestRow(2)}}), Base(0, {{"a", TestRow(1)}}), BaseEnd(0, rows_)},
       "do not ascend"},
      {{Base(0, rows_), Base(0, {{"b", TestRow(2)}}), BaseEnd(0, rows_)}, "do not ascend"},
      {{BaseEnd(0, {}), BaseEnd(0, {})}, "ends twice"},
      {{BaseEnd(0, {}), Base(0, rows_)}, "after the end of the base"},
      {{Delta(1, "a", 1), BaseEnd(0, {})}, "before the end of the base"},
      {{BaseEnd(0, {}), erases}, "not there"},
      {{Base(2, rows_), BaseEnd(2, rows_), unsorted}, "names a row twice"},
      {{BaseEnd(0, {}), key}, "plain text"},
      {{BaseEnd(0, {}), row}, "not a JSON object"},
  };
  for (const Case& one : cases) {
    locator_ = Locator();
    locator_.store = kName;
    last_.reset();
    Add(one.records);
    ExpectActiveRefused(one.words);
    ASSERT_EQ(unlink(Path("000001.log").c_str()), 0);
  }
}

// What a power cut leaves: a delta without its head. Here the writer died before Close.
TEST_F(StoreVerifyTest, ADeltaBehindTheHeadIsMarkedUntilAWriterOpens) {
  Add({BaseEnd(0, {}), Delta(1, "a", 1), Delta(2, "b", 2)});
  EXPECT_TRUE(Read()->durable);
  std::string bytes = Load("000001.log");
  // Head 4, of the third batch, back to head 2, which a lost write leaves in that slot.
  {
    auto log =
        LogWriter::Open(directory_, "000001.log", key_, JournalIdentity(kTestRepository, kName, 1));
    const std::string slots = bytes.substr(4096, 8192);
    const auto text = EncodeRecord(Delta(3, "c", 3));
    ASSERT_TRUE(log->Append(AsBytes(*text), Durability::kRecord));
    ASSERT_TRUE(log->Close());
    bytes = Load("000001.log").replace(4096, 8192, slots);
  }
  Save("000001.log", bytes);
  const auto before = Read();
  ASSERT_TRUE(before) << before.error().message;
  EXPECT_EQ(before->generation, 3U);
  EXPECT_FALSE(before->durable);
  EXPECT_EQ(Findings(), "");
  ASSERT_TRUE(Open()->Close());
  EXPECT_TRUE(Read()->durable);
  EXPECT_EQ(Read()->generation, 3U);
}

TEST_F(StoreVerifyTest, LeftoversOfRolloverAndDropAreNoFindings) {
  Add({BaseEnd(0, {}), Delta(1, "a", 1), Delta(2, "b", 2)});
  Add({Base(2, rows_), BaseEnd(2, rows_)});
  Add({Base(2, rows_), BaseEnd(2, rows_)});
  Locator mid = locator_;  // the rollover from 2 to 3 had not come to its end, 1 is archived
  mid.active = 2;
  mid.active_log_id = locator_.retained[1].log_id;
  mid.prepared = true;
  mid.archived = ArchivedJournals{1, 2, locator_.retained[0].mac};
  mid.retained.clear();
  Save("locator", *EncodeLocator(mid, key_, kTestRepository));
  const StoreReport report = Verify();
  EXPECT_TRUE(report.intact()) << Findings();
  ASSERT_EQ(report.journals.size(), 3U);
  EXPECT_EQ(report.journals[0].role, JournalRole::kArchived);
  EXPECT_EQ(report.journals[2].role, JournalRole::kPrepared);
  EXPECT_TRUE(Read());
  EXPECT_EQ(Names().size(), 5U) << "reading removes nothing";
  ASSERT_TRUE(Open());
  EXPECT_EQ(Names(), (std::set<std::string>{"lock", "locator", "000002.log"}));
  EXPECT_FALSE(Open()->locator().prepared);
}

}  // namespace
}  // namespace maco

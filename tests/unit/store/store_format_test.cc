// Names, records and locators as texts: golden bytes, and each member that is missing or wrong.
// Contract under test: docs/formats/store.md ("Journal", "Locator").
#include <gtest/gtest.h>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/store/store_record.h"
#include "libcommon/store/store_room.h"
#include "tests/unit/store/store_fixture.h"

namespace maco {
namespace {

constexpr char kDomain[] = "maco.store-locator/1";

Locator GoldenLocator() {
  Locator locator;
  locator.store = "claims";
  locator.active = 4;
  locator.active_log_id.fill(0x44);
  locator.prepared = true;
  RetainedJournal journal;
  journal.n = 3;
  journal.log_id.fill(0x33);
  journal.first_generation = 70;
  journal.last_generation = 90;
  journal.sequence = 22;
  journal.mac.fill(0xc3);
  locator.retained.push_back(journal);
  ArchivedJournals archived;
  archived.through = 2;
  archived.last_generation = 70;
  archived.mac.fill(0xc2);
  locator.archived = archived;
  return locator;
}

Code DecodeCode(const Json& document, const Key& key) {
  const auto text = SignDocument(document, key, kDomain, kTestRepository);
  const auto locator = DecodeLocator(*text, "claims", key, kTestRepository);
  return locator ? Code::kInternal : locator.error().code;
}

// Made by tests/vectors/make_store_vectors.py, which shares no code with what is tested.
TEST(StoreFormatTest, TheGoldenLocatorIsWrittenAndRead) {
  const Key key = StoreTestKey();
  const auto golden = ReadPath(std::string(MACO_VECTORS) + "/store-v1-locator.json", 1 << 16U);
  ASSERT_TRUE(golden);
  EXPECT_EQ(*EncodeLocator(GoldenLocator(), key, kTestRepository), *golden);
  const auto locator = DecodeLocator(*golden, "claims", key, kTestRepository);
  ASSERT_TRUE(locator) << locator.error().message;
  EXPECT_EQ(locator->active, 4U);
  EXPECT_TRUE(locator->prepared);
  EXPECT_EQ(locator->retained.at(0).sequence, 22U);
  EXPECT_EQ(locator->archived->mac[0], 0xc2U);
  EXPECT_EQ(locator->BaseGeneration(), 90U);
  EXPECT_EQ(locator->FirstKept(), 3U);
}

// A whole store of the same origin: journal 3, the ones before it archived.
using StoreGoldenTest = StoreFixture;
TEST_F(StoreGoldenTest, TheGoldenStoreIsRead) {
  ASSERT_EQ(mkdir(scratch_.Path("stores").c_str(), 0700), 0);
  ASSERT_EQ(mkdir(Path().c_str(), 0700), 0);
  const std::string vectors = MACO_VECTORS;
  Save("lock", "");
  Save("locator", *ReadPath(vectors + "/store-v1-journal-locator.json", 1 << 16U));
  Save("000003.log", *ReadPath(vectors + "/store-v1-journal.bin", 1 << 16U));
  EXPECT_EQ(Findings(), "");
  const auto snapshot = Read();
  ASSERT_TRUE(snapshot) << Describe(snapshot.error());
  EXPECT_EQ(snapshot->generation, 92U);
  EXPECT_EQ(
      Rows(snapshot->table),
      (std::vector<std::string>{R"(a={"number":3})", "\xc3\xa4\"\\={\"list\":[1,\"x\",null]}"}));
  EXPECT_EQ(Open()->Commit(Erase({"a"}), Durability::kRecord), 93U);
}

TEST(StoreFormatTest, ALocatorThatBreaksARuleIsCorrupt) {
  const Key key = StoreTestKey();
  const auto golden = EncodeLocator(GoldenLocator(), key, kTestRepository);
  const Json good = *VerifyDocument(*golden, 1 << 16U, key, kDomain, kTestRepository);
  ASSERT_EQ(DecodeCode(good, key), Code::kInternal) << "it is read as it is";
  const std::pair<const char*, Json> changes[] = {
      {"/schema", 1},
      {"/schema", "other"},
      {"/store", "lanes"},
      {"/store", nullptr},
      {"/active", 5},
      {"/active", 3},
      {"/active", 0},
      {"/active", -4},
      {"/active", "4"},
      {"/active_log_id", nullptr},
      {"/active_log_id", "4444"},
      {"/active_log_id", std::string(32, 'G')},
      {"/prepared", 4},
      {"/prepared", 6},
      {"/prepared", true},
      {"/retained", Json::array()},
      {"/retained", Json::object()},
      {"/retained/0", 1},
      {"/retained/0/n", 2},
      {"/retained/0/first_generation", 69},
      {"/retained/0/last_generation", 69},
      {"/retained/0/sequence", 0},
      {"/retained/0/mac", "c3"},
      {"/retained/0/log_id", std::string(32, 'A')},
      {"/retained/0/more", 1},
      {"/archived", nullptr},
      {"/archived", 1},
      {"/archived/through", 3},
      {"/archived/through", 0},
      {"/archived/last_generation", 71},
      {"/archived/mac", nullptr},
      {"/archived/more", 1},
      {"/more", 1},
  };
  for (const auto& [pointer, value] : changes) {
    Json bad = good;
    bad[Json::json_pointer(pointer)] = value;
    EXPECT_EQ(DecodeCode(bad, key), Code::kCorrupt) << pointer << " " << value;
  }
  for (const auto& member : good.items()) {
    Json bad = good;
    bad.erase(member.key());
    EXPECT_EQ(DecodeCode(bad, key), Code::kCorrupt) << member.key();
  }
  Json none = good;
  none["prepared"] = nullptr;
  EXPECT_EQ(DecodeCode(none, key), Code::kInternal);
}

TEST(StoreFormatTest, ALaterVersionOfTheLocatorIsSaidToBeOne) {
  const Key key = StoreTestKey();
  const auto text = SignDocument(Json{{"schema", "maco.store-locator/2"}}, key,
                                 "maco.store-locator/2", kTestRepository);
  EXPECT_EQ(DecodeLocator(*text, "claims", key, kTestRepository).error().code, Code::kUnsupported);
}

TEST(StoreFormatTest, RecordsHaveOneForm) {
  StoreRecord delta;
  delta.generation = 7;
  delta.time_us = 9;
  delta.change.put["b"] = RowOf(Json{{"x", 1}});
  delta.change.erase = {"a"};
  const std::string text = R"({"delete":["a"],"generation":7,"kind":"delta","put":{"b":{"x":1}},)"
                           R"("schema":"maco.store-record/1","time_us":9})";
  EXPECT_EQ(*EncodeRecord(delta), text);
  EXPECT_EQ(*EncodeRecord(*DecodeRecord(text)), text);

  StoreRecord base = delta;
  base.kind = StoreRecord::Kind::kBase;
  base.change.erase.clear();
  const std::string base_text = R"({"generation":7,"kind":"base","put":{"b":{"x":1}},)"
                                R"("schema":"maco.store-record/1","time_us":9})";
  EXPECT_EQ(*EncodeRecord(base), base_text);
  EXPECT_EQ(*EncodeRecord(*DecodeRecord(base_text)), base_text);

  StoreRecord end;
  end.kind = StoreRecord::Kind::kBaseEnd;
  end.digest = *Table().ComputeDigest();
  // sha256 of "{}"
  const std::string end_text =
      R"({"generation":0,"kind":"base_end","rows":0,"schema":"maco.store-record/1",)"
      R"("sha256":"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",)"
      R"("time_us":0})";
  EXPECT_EQ(*EncodeRecord(end), end_text);
  EXPECT_EQ(*EncodeRecord(*DecodeRecord(end_text)), end_text);
}

TEST(StoreFormatTest, OtherRecordsAreRefused) {
  const auto code = [](const std::string& text) {
    const auto record = DecodeRecord(text);
    return record ? Code::kInternal : record.error().code;
  };
  const std::string good = R"({"delete":["a"],"generation":7,"kind":"delta","put":{},)"
                           R"("schema":"maco.store-record/1","time_us":9})";
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string bad = good;
    return bad.replace(bad.find(from), from.size(), to);
  };
  EXPECT_EQ(code(good), Code::kInternal);
  EXPECT_EQ(code(with("record/1", "record/2")), Code::kUnsupported);
  for (const std::string& bad :
       {std::string(), std::string("[]"), good + " ", with(R"("delete":["a"],)", ""),
        with(R"(["a"])", "[]"), with(R"(["a"])", "[1]"), with(R"(["a"])", R"({"a":1})"),
        with("7", "-7"), with("7", "7.0"), with(R"("generation":7,)", ""), with("delta", "gamma"),
        with("delta", "base"), with("delta", "base_end"), with(R"("put":{},)", ""),
        with(R"("put":{})", R"("put":[])"), with(R"("time_us":9)", R"("time_us":9,"zone":1)"),
        with(R"(,"time_us":9)", ""), with("maco.store", "maco.other"),
        with(R"("maco.store-record/1")", "1")}) {
    EXPECT_EQ(code(bad), Code::kCorrupt) << bad;
  }
  EXPECT_EQ(EncodeRecord(StoreRecord{}).error().code, Code::kInvalid);
}

TEST(StoreFormatTest, NamesOfJournals) {
  EXPECT_EQ(JournalName(1), "000001.log");
  EXPECT_EQ(JournalName(999'999), "999999.log");
  EXPECT_EQ(ParseJournalName("000042.log"), 42U);
  for (const char* bad : {"000000.log", "00042.log", "0000042.log", "00004a.log", "000042.LOG",
                          "000042", "+00042.log", ""}) {
    EXPECT_FALSE(ParseJournalName(bad)) << bad;
  }
  EXPECT_EQ(JournalIdentity("r", "claims", 7).object_id, "store/claims/000007");
}

// D is what deletes really take, if all numbers are as long as they can be.
TEST(StoreFormatTest, TheRoomForDeletingIsExact) {
  Table table;
  TableChange change;
  std::uint64_t bytes = 0;
  for (const std::string& key : {std::string("a"), std::string(512, 'k'), std::string("\"\\")}) {
    change.put[key] = RowOf(TestRow(1));
    StoreRecord erase;
    erase.generation = ~std::uint64_t{0};
    erase.time_us = ~std::uint64_t{0};
    erase.change.erase = {key};
    bytes += kFrameHeaderBytes + EncodeRecord(erase)->size();
  }
  ASSERT_TRUE(table.Apply(change));
  EXPECT_EQ(DeleteRoom(table.size()), bytes);
  StoreRecord replace;
  replace.generation = ~std::uint64_t{0};
  replace.time_us = ~std::uint64_t{0};
  replace.change.put["a"] = RowOf(TestRow(1, 100 - TestRow(1).dump().size()));
  TableSize one;
  one.rows = 1;
  one.key_bytes = KeyBytes("a");
  EXPECT_EQ(ReplaceRoom(one, 100), kFrameHeaderBytes + EncodeRecord(replace)->size());
}

}  // namespace
}  // namespace maco

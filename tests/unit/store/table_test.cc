// Rows as texts: what they weigh, when they are parsed, and changes that are taken back.
// Contract under test: libcommon/store/table.h, libcommon/store/row.h.
#include "libcommon/store/table.h"

#include <gtest/gtest.h>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/byte_codec.h"
#include "libcommon/store/store_record.h"
#include "tests/unit/store/store_fixture.h"

namespace maco {
namespace {

TableChange Change(const std::map<std::string, Json>& put, std::vector<std::string> erase = {}) {
  TableChange change;
  for (const auto& [key, value] : put) {
    change.put[key] = RowOf(value);
  }
  change.erase = std::move(erase);
  return change;
}

// The size, counted anew.
void ExpectSized(const Table& table) {
  TableSize size;
  for (const auto& [key, row] : table.rows()) {
    ++size.rows;
    size.key_bytes += Canonicalize(key)->size();
    size.row_bytes += Canonicalize(row.value())->size();
  }
  EXPECT_EQ(table.size().rows, size.rows);
  EXPECT_EQ(table.size().key_bytes, size.key_bytes);
  EXPECT_EQ(table.size().row_bytes, size.row_bytes);
}

TEST(RowTest, IsItsCanonicalText) {
  const Json value = {{"b", 1}, {"a", {true, nullptr}}};
  const Row row = RowOf(value);
  EXPECT_EQ(row.text(), R"({"a":[true,null],"b":1})");
  EXPECT_EQ(row.bytes(), row.text().size());
  EXPECT_TRUE(row.is_object());
  EXPECT_EQ(row.value(), value);
  EXPECT_EQ(&row.value(), &row.value()) << "it is parsed once";
  EXPECT_FALSE(RowOf(Json::array()).is_object());
  EXPECT_EQ(Row().value(), Json::object());
  EXPECT_EQ(Row::Of(1.5).error().code, Code::kInvalid);
}

// A record adds two containers, and the whole is bounded.
TEST(RowTest, IsNestedAsDeepAsARecordLeavesRoomFor) {
  Json row = Json::object();
  for (std::size_t depth = 1; depth < kMaxJsonDepth - Row::kDepth; ++depth) {
    Json outer = Json::object();
    outer["in"] = std::move(row);
    row = std::move(outer);
  }
  StoreRecord record;
  record.change.put["a"] = RowOf(row);
  const auto found = DecodeRecord(*EncodeRecord(record));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->change.put.at("a").value(), row);
  Json deeper = Json::object();
  deeper["in"] = row;
  EXPECT_EQ(Row::Of(deeper).error().code, Code::kLimit);
}

TEST(TableTest, AChangeIsTakenBack) {
  Table table;
  ASSERT_TRUE(table.Apply(Change({{"b", TestRow(1)}, {"d\"", TestRow(22)}, {"f", TestRow(3)}})));
  ExpectSized(table);
  const auto before = Rows(table);
  Table::Undo undo;
  ASSERT_TRUE(table.Apply(
      Change({{"a", TestRow(4)}, {"b", TestRow(555)}, {"g", TestRow(6)}}, {"d\"", "f"}), &undo));
  ExpectSized(table);
  EXPECT_EQ(table.Find("b")->at("number"), 555);
  EXPECT_EQ(table.FindRow("f"), nullptr);
  EXPECT_EQ(table.Find("f"), nullptr);
  table.Revert(std::move(undo));
  ExpectSized(table);
  EXPECT_EQ(Rows(table), before);
}

TEST(TableTest, AChangeThatIsRefusedChangesNothing) {
  Table table;
  ASSERT_TRUE(table.Apply(Change({{"a", TestRow(1)}, {"b", TestRow(2)}})));
  const auto before = Rows(table);
  const std::pair<TableChange, Code> cases[] = {
      {Change({{"c", TestRow(1)}}, {"d"}), Code::kNotFound},
      {Change({{"a", TestRow(1)}}, {"a"}), Code::kInvalid},
      {Change({}, {"b", "a"}), Code::kInvalid},
      {Change({{"c", TestRow(1)}, {"d", Json::array()}}), Code::kInvalid},
      {Change({{"", TestRow(1)}}), Code::kInvalid},
      {Change({{"c", TestRow(1)}, {"d\n", TestRow(1)}}), Code::kInvalid},
  };
  for (const auto& [change, code] : cases) {
    EXPECT_EQ(table.Apply(change).error().code, code);
    EXPECT_EQ(Rows(table), before);
  }
  ExpectSized(table);
}

TEST(TableTest, TheDigestIsThatOfOneObject) {
  const Json rows = {{"b", TestRow(1)}, {"a\"", TestRow(2)}, {"\u00e4", TestRow(3)}};
  Table table;
  ASSERT_TRUE(table.Apply(Change(rows.get<std::map<std::string, Json>>())));
  EXPECT_EQ(*table.ComputeDigest(), Sha256(AsBytes(*Canonicalize(rows))));
}

}  // namespace
}  // namespace maco

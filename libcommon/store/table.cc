// Changes with undo, and sizes that are kept up with them.
// Contract: libcommon/store/table.h.
#include "libcommon/store/table.h"

#include <algorithm>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/byte_codec.h"
#include "libcommon/store/store_name.h"

namespace maco {
namespace {

Result<Row> MakeRow(const Json& value) {
  if (!value.is_object()) {
    return Fail(Code::kInvalid, "a row of a store is not a JSON object");
  }
  std::string text;
  MACO_ASSIGN(text, Canonicalize(value));
  return Row{value, text.size()};
}

Result<void> CheckErase(const TableChange& change, const Table::Rows& rows) {
  const std::string* before = nullptr;
  for (const std::string& key : change.erase) {
    if ((before && *before >= key) || change.put.contains(key)) {
      return Fail(Code::kInvalid, "a change names a row twice");
    }
    if (!rows.contains(key)) {
      return Fail(Code::kNotFound, "a change deletes a row that is not there");
    }
    before = &key;
  }
  return {};
}

}  // namespace

// A key has no control characters, so only these two are escaped.
std::uint64_t KeyBytes(const std::string& key) {
  const auto escaped = std::ranges::count_if(key, [](char c) { return c == '"' || c == '\\'; });
  return key.size() + static_cast<std::uint64_t>(escaped) + 2;
}

const Json* Table::Find(const std::string& key) const {
  const auto row = rows_.find(key);
  return row == rows_.end() ? nullptr : &row->second.value;
}

void Table::Set(const std::string& key, std::optional<Row> row) {
  const auto old = rows_.find(key);
  if (old != rows_.end()) {
    --size_.rows;
    size_.key_bytes -= KeyBytes(key);
    size_.row_bytes -= old->second.bytes;
    rows_.erase(old);
  }
  if (row) {
    ++size_.rows;
    size_.key_bytes += KeyBytes(key);
    size_.row_bytes += row->bytes;
    rows_.emplace(key, *std::move(row));
  }
}

Result<Table::Undo> Table::Apply(const TableChange& change) {
  MACO_TRY(CheckErase(change, rows_));
  Undo undo;
  std::vector<Row> rows;
  for (const auto& [key, value] : change.put) {
    if (!IsStoreKey(key)) {
      return Fail(Code::kInvalid, "a key of a store is not 1 to 512 bytes of plain text");
    }
    Row row;
    MACO_ASSIGN(row, MakeRow(value));
    rows.push_back(std::move(row));
  }
  const auto replace = [&](const std::string& key, std::optional<Row> row) {
    const auto old = rows_.find(key);
    undo.emplace_back(key, old == rows_.end() ? std::nullopt : std::optional(old->second));
    Set(key, std::move(row));
  };
  std::size_t next = 0;
  for (const auto& member : change.put) {
    replace(member.first, std::move(rows[next++]));
  }
  for (const std::string& key : change.erase) {
    replace(key, std::nullopt);
  }
  return undo;
}

void Table::Revert(Undo undo) {
  for (auto& [key, row] : undo) {
    Set(key, std::move(row));
  }
}

Result<Digest> Table::ComputeDigest() const {
  Sha256Stream stream;
  stream.Update(AsBytes("{"));
  const char* separator = "";
  for (const auto& [key, row] : rows_) {
    std::string name;
    std::string value;
    MACO_ASSIGN(name, Canonicalize(key));
    MACO_ASSIGN(value, Canonicalize(row.value));
    stream.Update(AsBytes(separator + name + ":" + value));
    separator = ",";
  }
  stream.Update(AsBytes("}"));
  return stream.Finish();
}

}  // namespace maco

// Changes with undo, and sizes that are kept up with them. Rows are moved, never copied.
// Contract: libcommon/store/table.h.
#include "libcommon/store/table.h"

#include <algorithm>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/byte_codec.h"
#include "libcommon/store/store_name.h"

namespace maco {
namespace {

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

Result<void> CheckPut(const TableChange& change) {
  for (const auto& [key, row] : change.put) {
    if (!IsStoreKey(key)) {
      return Fail(Code::kInvalid, "a key of a store is not 1 to 512 bytes of plain text");
    }
    if (!row.is_object()) {
      return Fail(Code::kInvalid, "a row of a store is not a JSON object");
    }
  }
  return {};
}

}  // namespace

// A key has no control characters, so only these two are escaped.
std::uint64_t KeyBytes(const std::string& key) {
  const auto escaped = std::ranges::count_if(key, [](char c) { return c == '"' || c == '\\'; });
  return key.size() + static_cast<std::uint64_t>(escaped) + 2;
}

const Row* Table::FindRow(const std::string& key) const {
  const auto row = rows_.find(key);
  return row == rows_.end() ? nullptr : &row->second;
}

const Json* Table::Find(const std::string& key) const {
  const Row* row = FindRow(key);
  return row == nullptr ? nullptr : &row->value();
}

std::optional<Row> Table::Put(Rows::node_type row) {
  const std::uint64_t key_bytes = KeyBytes(row.key());
  size_.row_bytes += row.mapped().bytes();
  // Mostly in ascending order, from a base or a journal of new rows.
  const bool last = rows_.empty() || rows_.rbegin()->first < row.key();
  const auto old = last ? rows_.end() : rows_.lower_bound(row.key());
  if (old != rows_.end() && old->first == row.key()) {
    size_.row_bytes -= old->second.bytes();
    return std::exchange(old->second, std::move(row.mapped()));
  }
  ++size_.rows;
  size_.key_bytes += key_bytes;
  rows_.insert(old, std::move(row));
  return std::nullopt;
}

std::optional<Row> Table::Erase(const std::string& key) {
  auto old = rows_.extract(key);
  if (old.empty()) {
    return std::nullopt;
  }
  --size_.rows;
  size_.key_bytes -= KeyBytes(key);
  size_.row_bytes -= old.mapped().bytes();
  return std::move(old.mapped());
}

Result<void> Table::Apply(TableChange change, Undo* undo) {
  MACO_TRY(CheckErase(change, rows_));
  MACO_TRY(CheckPut(change));
  const auto note = [&](const std::string& key, std::optional<Row> old) {
    if (undo != nullptr) {
      undo->emplace_back(key, std::move(old));
    }
  };
  while (!change.put.empty()) {
    auto row = change.put.extract(change.put.begin());
    const std::string key = undo != nullptr ? row.key() : std::string();
    note(key, Put(std::move(row)));
  }
  for (const std::string& key : change.erase) {
    note(key, Erase(key));
  }
  return {};
}

void Table::Revert(Undo undo) {
  for (auto& [key, row] : undo) {
    Erase(key);
    if (row) {
      Rows one;
      one.emplace(key, *std::move(row));
      Put(one.extract(one.begin()));
    }
  }
}

Result<Digest> Table::ComputeDigest() const {
  Sha256Stream stream;
  stream.Update(AsBytes("{"));
  const char* separator = "";
  for (const auto& [key, row] : rows_) {
    std::string name;
    MACO_ASSIGN(name, Canonicalize(key));
    stream.Update(AsBytes(separator + name + ":"));
    stream.Update(AsBytes(row.text()));
    separator = ",";
  }
  stream.Update(AsBytes("}"));
  return stream.Finish();
}

}  // namespace maco

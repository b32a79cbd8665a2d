// Table: the rows of a store in memory, their size, their digest, and changes to them.
// Contract: docs/formats/store.md ("Table", "Room for letting go").
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libcommon/auth/json.h"
#include "libcommon/auth/mac.h"
#include "libcommon/base/result.h"
#include "libcommon/store/row.h"

namespace maco {

// What limits and room are computed from.
struct TableSize {
  std::uint64_t rows = 0;
  std::uint64_t key_bytes = 0;  // of all keys as JSON strings, quotes included
  std::uint64_t row_bytes = 0;  // of all rows, canonical

  std::uint64_t table_bytes() const { return key_bytes + row_bytes; }
};

// Rows to put, keys to delete. What a delta says.
struct TableChange {
  std::map<std::string, Row> put;
  std::vector<std::string> erase;  // ascending
};

// To be read by one thread only, as its rows.
class Table {
 public:
  using Rows = std::map<std::string, Row>;
  // What a change replaced, by key; nothing where there was no row.
  using Undo = std::vector<std::pair<std::string, std::optional<Row>>>;

  const Rows& rows() const { return rows_; }
  const TableSize& size() const { return size_; }
  const Row* FindRow(const std::string& key) const;  // nullptr if there is no such row
  const Json* Find(const std::string& key) const;    // its value; parses it the first time

  // Does all of the change or nothing; what it replaced goes into `undo`, if that is wanted.
  // Errors: kNotFound (a key to delete is not there), kInvalid (a key or row that is none, a key
  // twice).
  Result<void> Apply(TableChange change, Undo* undo = nullptr);
  void Revert(Undo undo);

  // SHA-256 over the canonical form. Errors: as Canonicalize.
  Result<Digest> ComputeDigest() const;

 private:
  // Both return what was there.
  std::optional<Row> Put(Rows::node_type row);
  std::optional<Row> Erase(const std::string& key);
  Rows rows_;
  TableSize size_;
};

// Bytes of a key as a JSON string.
std::uint64_t KeyBytes(const std::string& key);

}  // namespace maco

// A state root with a fixed key, small limits, and stores in it to commit to and to tamper with.
// For the tests of libcommon/store only.
#pragma once
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "libcommon/base/byte_codec.h"
#include "libcommon/os/bounded_read.h"
#include "libcommon/store/store.h"
#include "libcommon/store/store_list.h"
#include "libcommon/store/store_name.h"
#include "libcommon/store/store_reader.h"
#include "libcommon/store/store_verify.h"
#include "tests/unit/scratch_dir.h"

namespace maco {

inline Key StoreTestKey(std::uint8_t first = 0) {
  std::vector<std::uint8_t> bytes(Key::kBytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(i + first);
  }
  return *Key::FromBytes(bytes);
}

inline constexpr char kTestRepository[] = "00112233445566778899aabbccddeeff";

inline StoreLimits SmallLimits() {
  StoreLimits limits;
  limits.rows = 64;
  limits.table_bytes = 64 << 10U;
  limits.row_bytes = 8 << 10U;
  limits.release_bytes = 128;
  limits.journal_bytes = 256 << 10U;
  limits.journal_records = 400;
  limits.retained = 8;
  limits.directory_entries = 24;
  limits.stores = 4;
  return limits;
}

inline Json TestRow(int number, std::size_t padding = 0) {
  Json row = Json::object();
  row["number"] = number;
  row["padding"] = std::string(padding, 'p');
  return row;
}

// As a table has it.
inline Row RowOf(const Json& value) { return *Row::Of(value); }

inline StoreChange Put(const std::string& key, Json row) {
  StoreChange change;
  change.put[key] = std::move(row);
  return change;
}

inline StoreChange Erase(std::vector<std::string> keys) {
  StoreChange change;
  change.erase = std::move(keys);
  return change;
}

inline StoreChange Release(const std::string& key, Json row) {
  StoreChange change = Put(key, std::move(row));
  change.release = true;
  return change;
}

// "key=canonical row" of each row.
inline std::vector<std::string> Rows(const Table& table) {
  std::vector<std::string> out;
  for (const auto& [key, row] : table.rows()) {
    out.push_back(key + "=" + row.text());
  }
  return out;
}

class StoreFixture : public ::testing::Test {
 protected:
  static constexpr char kName[] = "claims";

  StoreAccess Access() const { return {root_, &key_, kTestRepository}; }

  Result<Store> Open(const std::string& name = kName) const {
    return Store::Open(Access(), name, {.lock = LogLock::kTry, .limits = limits_});
  }
  Result<Store> TryCreate(const std::string& name = kName) const {
    return Store::Open(Access(), name, {.create = true, .lock = LogLock::kTry, .limits = limits_});
  }
  Store Create(const std::string& name = kName) const {
    auto store = TryCreate(name);
    EXPECT_TRUE(store.has_value()) << (store ? "" : Describe(store.error()));
    return *std::move(store);
  }
  // Code and message of what opening for writing fails with.
  Error OpenError(const std::string& name = kName) const {
    const auto store = Open(name);
    EXPECT_FALSE(store.has_value());
    return store ? Error{} : store.error();
  }

  Result<StoreSnapshot> Read(const std::string& name = kName) const {
    return ReadStore(Access(), name, limits_);
  }
  StoreReport Verify(const std::string& name = kName) const {
    auto report = VerifyStore(Access(), name);
    EXPECT_TRUE(report.has_value()) << (report ? "" : Describe(report.error()));
    return report.value_or(StoreReport{});
  }
  // All findings on one line each; empty if the store is intact.
  std::string Findings(const std::string& name = kName) const {
    std::string out;
    for (const Error& finding : Verify(name).findings) {
      out += std::string(CodeName(finding.code)) + ": " + finding.message + "\n";
    }
    return out;
  }

  std::string Path(const std::string& file = "", const std::string& name = kName) const {
    return root_path_ + "/stores/" + name + (file.empty() ? "" : "/" + file);
  }
  std::set<std::string> Names(const std::string& name = kName) const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(Path("", name))) {
      names.insert(entry.path().filename());
    }
    return names;
  }

  std::string Load(const std::string& file) const {
    return *ReadPath(Path(file), std::size_t{64} << 20U);
  }
  void Save(const std::string& file, std::string_view bytes) const {
    const UniqueFd fd(open(Path(file).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    ASSERT_TRUE(WriteAll(fd.get(), AsBytes(bytes)));
  }

  ScratchDir scratch_;
  const Directory* root_ = &scratch_.dir();  // the state root
  std::string root_path_ = scratch_.path();
  Key key_ = StoreTestKey();
  StoreLimits limits_ = SmallLimits();
};

}  // namespace maco

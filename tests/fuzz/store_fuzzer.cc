// Any text as a record, as a journal of records (one a line) and as a locator; journal and locator
// get MACs that are right, so that the fuzzer gets past the authentication to what is behind it.
// Contract under test: docs/formats/store.md. What is accepted has exactly one form, and a table
// that is read knows its own size.
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/byte_codec.h"
#include "libcommon/log/log_codec.h"
#include "libcommon/os/fd.h"
#include "libcommon/store/locator.h"
#include "libcommon/store/store_journal.h"
#include "libcommon/store/store_record.h"

namespace {

using maco::Bytes;

constexpr char kRepository[] = "repository";
constexpr char kStore[] = "fuzz";

void Require(bool ok) {
  if (!ok) {
    std::abort();
  }
}

const maco::Key& FuzzKey() {
  static const std::vector<std::uint8_t> bytes(maco::Key::kBytes, 1);
  static const maco::Key key = *maco::Key::FromBytes(bytes);
  return key;
}

void TryRecord(std::string_view text) {
  const auto record = maco::DecodeRecord(text);
  if (record) {
    const auto again = maco::EncodeRecord(*record);
    Require(again && *again == text);
  }
}

void PutBlock(Bytes& file, std::size_t offset, std::span<const std::uint8_t> bytes) {
  std::ranges::copy(bytes, file.begin() + static_cast<std::ptrdiff_t>(offset));
}

// A valid log with a record for each line.
Bytes LogOf(std::string_view text, const maco::LogIdentity& identity) {
  constexpr std::size_t kMaxRecords = 64;
  const auto codec = maco::LogCodec::ForNewLog(FuzzKey(), identity, {});
  maco::LogHead older = codec->EmptyHead(0);
  maco::LogHead newer = codec->EmptyHead(1);
  Bytes records;
  while (!text.empty() && newer.sequence < kMaxRecords) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    maco::FrameHeader frame;
    frame.payload_bytes = static_cast<std::uint32_t>(line.size());
    frame.sequence = newer.sequence + 1;
    frame.batch = newer.number + 1;
    older = newer;
    newer.mac = codec->AppendFrame(frame, older.mac, maco::AsBytes(line), records);
    newer.number = frame.batch;
    newer.sequence = frame.sequence;
    newer.end = maco::kFirstRecordOffset + records.size();
  }
  Bytes file(maco::kFirstRecordOffset);
  PutBlock(file, 0, codec->header());
  for (const maco::LogHead& head : {older, newer}) {
    PutBlock(file, maco::kLogBlockBytes * (1 + head.number % 2), codec->EncodeHead(head));
  }
  file.insert(file.end(), records.begin(), records.end());
  return file;
}

maco::Result<maco::LogReader> OpenLog(const Bytes& file, const maco::LogIdentity& identity) {
  maco::UniqueFd fd(memfd_create("journal", MFD_CLOEXEC));
  Require(fd.valid() && maco::WriteAll(fd.get(), file).has_value());
  return maco::LogReader::FromFd(std::move(fd), FuzzKey(), identity);
}

void CheckTable(const maco::Table& table) {
  maco::TableSize size;
  for (const auto& [key, row] : table.rows()) {
    Require(row.value().is_object() && maco::Canonicalize(row.value()) == row.text());
    Require(maco::Canonicalize(key)->size() == maco::KeyBytes(key));
    ++size.rows;
    size.key_bytes += maco::KeyBytes(key);
    size.row_bytes += row.bytes();
  }
  Require(size.rows == table.size().rows && size.key_bytes == table.size().key_bytes &&
          size.row_bytes == table.size().row_bytes);
}

void TryJournal(std::string_view text) {
  const maco::LogIdentity identity{kRepository, "store/fuzz/000001"};
  const Bytes file = LogOf(text, identity);
  auto reader = OpenLog(file, identity);
  Require(reader.has_value());
  const auto content = maco::ReadJournal(*reader);
  if (content) {
    Require(content->last_generation >= content->first_generation);
    Require(content->records > content->last_generation - content->first_generation);
    CheckTable(content->table);
  }
  auto again = OpenLog(file, identity);
  const auto delta = maco::HasDelta(*again);
  Require(delta.has_value());
  Require(!content || *delta == (content->last_generation > content->first_generation));
}

void TryLocator(std::string_view text) {
  Require(!maco::DecodeLocator(text, kStore, FuzzKey(), kRepository));
  const auto document = maco::ParseJson(text, maco::kMaxLocatorBytes);
  if (!document) {
    return;
  }
  const auto signed_text =
      maco::SignDocument(*document, FuzzKey(), "maco.store-locator/1", kRepository);
  if (!signed_text) {
    return;
  }
  const auto locator = maco::DecodeLocator(*signed_text, kStore, FuzzKey(), kRepository);
  if (locator) {
    const auto again = maco::EncodeLocator(*locator, FuzzKey(), kRepository);
    Require(again && *again == *signed_text);
    Require(locator->retained.size() + locator->FirstKept() ==
            std::max<std::uint64_t>(locator->active, 1));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = maco::AsText({data, size});
  if (text.empty()) {
    return 0;
  }
  TryRecord(text);
  TryJournal(text);
  TryLocator(text);
  return 0;
}

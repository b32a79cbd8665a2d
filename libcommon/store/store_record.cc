// Records as canonical JSON, with exactly the members of their kind.
// Contract: libcommon/store/store_record.h, docs/formats/store.md.
#include "libcommon/store/store_record.h"

#include <limits>
#include <optional>
#include <utility>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/log/log_writer.h"
#include "libcommon/store/json_members.h"

namespace maco {
namespace {

constexpr std::string_view kSchemaFamily = "maco.store-record/";
constexpr char kSchema[] = "maco.store-record/1";
constexpr std::size_t kCommonMembers = 4;

Error Malformed(std::string_view reason) {
  return MakeError(Code::kCorrupt, "a record of a store is malformed: " + std::string(reason));
}

Json Document(const StoreRecord& record, const char* kind) {
  Json document = Json::object();
  document["schema"] = kSchema;
  document["kind"] = kind;
  document["generation"] = record.generation;
  document["time_us"] = record.time_us;
  return document;
}

Json PutDocument(const StoreRecord& record) {
  Json put = Json::object();
  for (const auto& [key, row] : record.change.put) {
    put[key] = row;
  }
  return put;
}

Result<void> TakePut(const Json& document, StoreRecord& record) {
  const Json* put = Member(document, "put");
  if (!put || !put->is_object()) {
    return Fail(Malformed("no \"put\""));
  }
  for (auto row = put->begin(); row != put->end(); ++row) {
    record.change.put.emplace(row.key(), row.value());
  }
  return {};
}

Result<void> TakeErase(const Json& document, StoreRecord& record) {
  const Json* erase = Member(document, "delete");
  if (!erase || !erase->is_array()) {
    return Fail(Malformed("no \"delete\""));
  }
  for (const Json& key : *erase) {
    const auto* text = key.get_ptr<const std::string*>();
    if (!text) {
      return Fail(Malformed("a key to delete is no text"));
    }
    record.change.erase.push_back(*text);
  }
  return {};
}

Result<void> TakeBase(const Json& document, StoreRecord& record) {
  record.kind = StoreRecord::Kind::kBase;
  MACO_TRY(TakePut(document, record));
  if (record.change.put.empty() || document.size() != kCommonMembers + 1) {
    return Fail(Malformed("a base without rows, or with other members"));
  }
  return {};
}

Result<void> TakeBaseEnd(const Json& document, StoreRecord& record) {
  record.kind = StoreRecord::Kind::kBaseEnd;
  const auto rows = UintMember(document, "rows");
  const auto digest = HexMember<sizeof(Digest)>(document, "sha256");
  if (!rows || !digest || document.size() != kCommonMembers + 2) {
    return Fail(Malformed("an end of the base without its members, or with others"));
  }
  record.rows = *rows;
  record.digest = *digest;
  return {};
}

Result<void> TakeDelta(const Json& document, StoreRecord& record) {
  record.kind = StoreRecord::Kind::kDelta;
  MACO_TRY(TakePut(document, record));
  MACO_TRY(TakeErase(document, record));
  const bool empty = record.change.put.empty() && record.change.erase.empty();
  if (empty || document.size() != kCommonMembers + 2) {
    return Fail(Malformed("a delta that changes nothing, or with other members"));
  }
  return {};
}

}  // namespace

Result<std::string> EncodeRecord(const StoreRecord& record) {
  const bool empty = record.change.put.empty() && record.change.erase.empty();
  if (empty && record.kind != StoreRecord::Kind::kBaseEnd) {
    return Fail(Code::kInvalid, "a change of a store changes nothing");
  }
  if (record.kind == StoreRecord::Kind::kBaseEnd) {
    Json document = Document(record, "base_end");
    document["rows"] = record.rows;
    document["sha256"] = ToHex(record.digest);
    return Canonicalize(document);
  }
  const bool delta = record.kind == StoreRecord::Kind::kDelta;
  Json document = Document(record, delta ? "delta" : "base");
  document["put"] = PutDocument(record);
  if (delta) {
    document["delete"] = record.change.erase;
  }
  return Canonicalize(document);
}

Result<StoreRecord> DecodeRecord(std::string_view text) {
  auto document = ParseJson(text, kMaxPayloadBytes);
  if (!document) {
    return Fail(Malformed(document.error().message));
  }
  const std::string* schema = document->is_object() ? TextMember(*document, "schema") : nullptr;
  if (!schema || !schema->starts_with(kSchemaFamily)) {
    return Fail(Malformed("it has no schema of ours"));
  }
  if (*schema != kSchema) {
    return Fail(Code::kUnsupported, "a record of a store has a later version",
                "use the git maco that wrote it, or a later one");
  }
  const auto canonical = Canonicalize(*document);
  if (!canonical || *canonical != text) {
    return Fail(Malformed("it is not in canonical form"));
  }
  StoreRecord record;
  const auto generation = UintMember(*document, "generation");
  const auto time_us = UintMember(*document, "time_us");
  const std::string* kind = TextMember(*document, "kind");
  if (!generation || !time_us || !kind) {
    return Fail(Malformed("a member is missing"));
  }
  record.generation = *generation;
  record.time_us = *time_us;
  if (*kind == "base") {
    MACO_TRY(TakeBase(*document, record));
  } else if (*kind == "base_end") {
    MACO_TRY(TakeBaseEnd(*document, record));
  } else if (*kind == "delta") {
    MACO_TRY(TakeDelta(*document, record));
  } else {
    return Fail(Malformed("unknown kind"));
  }
  return record;
}

std::uint64_t DeltaOverhead() {
  constexpr std::string_view kEmpty =
      R"({"delete":[],"generation":,"kind":"delta","put":{},"schema":"","time_us":})";
  constexpr std::uint64_t kLongestNumber = std::numeric_limits<std::uint64_t>::digits10 + 1;
  return kEmpty.size() + sizeof kSchema - 1 + 2 * kLongestNumber;
}

}  // namespace maco

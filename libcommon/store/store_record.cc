// Records as canonical JSON, with exactly the members of their kind. Rows stay texts both ways.
// Contract: libcommon/store/store_record.h, docs/formats/store.md.
#include "libcommon/store/store_record.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/auth/canonical_scan.h"
#include "libcommon/base/text.h"
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

// Adds the member "put"; the rows are canonical already.
Result<void> AppendPut(std::string& out, const std::map<std::string, Row>& put) {
  out += "\"put\":";
  char separator = '{';
  for (const auto& [key, row] : put) {
    std::string name;
    MACO_ASSIGN(name, Canonicalize(key));
    out += separator;
    out += name;
    out += ':';
    out += row.text();
    separator = ',';
  }
  out += put.empty() ? "{}" : "}";
  return {};
}

Result<std::string> EncodeBaseEnd(const StoreRecord& record) {
  Json document = Json::object();
  document["schema"] = kSchema;
  document["kind"] = "base_end";
  document["generation"] = record.generation;
  document["time_us"] = record.time_us;
  document["rows"] = record.rows;
  document["sha256"] = ToHex(record.digest);
  return Canonicalize(document);
}

// The members of a record that was scanned, and the parts of the two that have any.
class Members {
 public:
  explicit Members(const std::vector<JsonPart>& parts) : parts_(parts) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].level == 1) {
        named_.push_back(i);
      }
    }
  }

  std::size_t count() const { return named_.size(); }

  // Nothing if there is none of that name.
  std::string_view Value(std::string_view name) const {
    const JsonPart* member = Find(name);
    return member == nullptr ? std::string_view() : member->value;
  }

  std::optional<std::string> Text(std::string_view name) const {
    return CanonicalString(Value(name));
  }

  // A canonical number that has digits only is an unsigned one.
  std::optional<std::uint64_t> Uint(std::string_view name) const { return ParseUint(Value(name)); }

  // What is in a member that is an object or array.
  std::span<const JsonPart> Inner(std::string_view name) const {
    const JsonPart* member = Find(name);
    if (member == nullptr) {
      return {};
    }
    const auto begin = static_cast<std::size_t>(member - parts_.data()) + 1;
    std::size_t end = begin;
    while (end < parts_.size() && parts_[end].level > 1) {
      ++end;
    }
    return std::span(parts_).subspan(begin, end - begin);
  }

 private:
  const JsonPart* Find(std::string_view name) const {
    for (const std::size_t i : named_) {
      const std::string_view quoted = parts_[i].name;
      if (quoted.size() == name.size() + 2 && quoted.substr(1, name.size()) == name) {
        return &parts_[i];
      }
    }
    return nullptr;
  }

  const std::vector<JsonPart>& parts_;
  std::vector<std::size_t> named_;  // places of the members
};

Result<void> TakePut(const Members& members, StoreRecord& record) {
  if (!members.Value("put").starts_with('{')) {
    return Fail(Malformed("no \"put\""));
  }
  auto& put = record.change.put;
  for (const JsonPart& row : members.Inner("put")) {
    put.emplace_hint(put.end(), *CanonicalString(row.name),
                     Row::OfCanonical(std::string(row.value)));
  }
  return {};
}

Result<void> TakeErase(const Members& members, StoreRecord& record) {
  if (!members.Value("delete").starts_with('[')) {
    return Fail(Malformed("no \"delete\""));
  }
  for (const JsonPart& key : members.Inner("delete")) {
    auto text = CanonicalString(key.value);
    if (!text) {
      return Fail(Malformed("a key to delete is no text"));
    }
    record.change.erase.push_back(*std::move(text));
  }
  return {};
}

Result<void> TakeBase(const Members& members, StoreRecord& record) {
  record.kind = StoreRecord::Kind::kBase;
  MACO_TRY(TakePut(members, record));
  if (record.change.put.empty() || members.count() != kCommonMembers + 1) {
    return Fail(Malformed("a base without rows, or with other members"));
  }
  return {};
}

Result<void> TakeBaseEnd(const Members& members, StoreRecord& record) {
  record.kind = StoreRecord::Kind::kBaseEnd;
  const auto rows = members.Uint("rows");
  const auto hex = members.Text("sha256");
  const auto digest = hex ? FromHex(*hex) : std::nullopt;
  if (!rows || !digest || digest->size() != sizeof(Digest) ||
      members.count() != kCommonMembers + 2) {
    return Fail(Malformed("an end of the base without its members, or with others"));
  }
  record.rows = *rows;
  std::ranges::copy(*digest, record.digest.begin());
  return {};
}

Result<void> TakeDelta(const Members& members, StoreRecord& record) {
  record.kind = StoreRecord::Kind::kDelta;
  MACO_TRY(TakePut(members, record));
  MACO_TRY(TakeErase(members, record));
  const bool empty = record.change.put.empty() && record.change.erase.empty();
  if (empty || members.count() != kCommonMembers + 2) {
    return Fail(Malformed("a delta that changes nothing, or with other members"));
  }
  return {};
}

Result<void> CheckSchema(const std::optional<std::string>& schema) {
  if (!schema || !schema->starts_with(kSchemaFamily)) {
    return Fail(Malformed("it has no schema of ours"));
  }
  if (*schema != kSchema) {
    return Fail(Code::kUnsupported, "a record of a store has a later version",
                "use the git maco that wrote it, or a later one");
  }
  return {};
}

// What is wrong with a text that is not canonical: a later version may have another form.
Error NotCanonical(std::string_view text) {
  const auto document = ParseJson(text, kMaxPayloadBytes);
  if (!document) {
    return Malformed(document.error().message);
  }
  const std::string* schema = document->is_object() ? TextMember(*document, "schema") : nullptr;
  const auto known = CheckSchema(schema != nullptr ? std::optional(*schema) : std::nullopt);
  return known ? Malformed("it is not in canonical form") : known.error();
}

}  // namespace

Result<std::string> EncodeRecord(const StoreRecord& record) {
  if (record.kind == StoreRecord::Kind::kBaseEnd) {
    return EncodeBaseEnd(record);
  }
  if (record.change.put.empty() && record.change.erase.empty()) {
    return Fail(Code::kInvalid, "a change of a store changes nothing");
  }
  const bool delta = record.kind == StoreRecord::Kind::kDelta;
  std::string out = "{";
  if (delta) {
    std::string erase;
    MACO_ASSIGN(erase, Canonicalize(record.change.erase));
    out += "\"delete\":" + erase + ",";
  }
  out += "\"generation\":" + std::to_string(record.generation);
  out += delta ? R"(,"kind":"delta",)" : R"(,"kind":"base",)";
  MACO_TRY(AppendPut(out, record.change.put));
  out += std::string(R"(,"schema":")") + kSchema + "\"";
  out += ",\"time_us\":" + std::to_string(record.time_us) + "}";
  return out;
}

Result<StoreRecord> DecodeRecord(std::string_view text) {
  const auto parts = CanonicalParts(text, kMaxPayloadBytes, 2);
  if (!parts) {
    return Fail(NotCanonical(text));
  }
  const Members members(*parts);
  MACO_TRY(CheckSchema(members.Text("schema")));
  StoreRecord record;
  const auto generation = members.Uint("generation");
  const auto time_us = members.Uint("time_us");
  const auto kind = members.Text("kind");
  if (!generation || !time_us || !kind) {
    return Fail(Malformed("a member is missing"));
  }
  record.generation = *generation;
  record.time_us = *time_us;
  if (*kind == "base") {
    MACO_TRY(TakeBase(members, record));
  } else if (*kind == "base_end") {
    MACO_TRY(TakeBaseEnd(members, record));
  } else if (*kind == "delta") {
    MACO_TRY(TakeDelta(members, record));
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

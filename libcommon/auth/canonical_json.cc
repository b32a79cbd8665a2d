// The canonical printer and the signature over it.
// Contract: libcommon/auth/canonical_json.h, docs/formats/canonical-json.md.
#include "libcommon/auth/canonical_json.h"

#include <algorithm>
#include <string>

#include "libcommon/base/byte_codec.h"
#include "libcommon/base/text.h"

namespace maco {
namespace {

constexpr char kMacMember[] = "mac";

class Printer {
 public:
  Result<void> Value(const Json& value, std::size_t depth) {
    if (out_.size() > kMaxJsonBytes) {
      return Fail(Code::kLimit, "a JSON document is too large");
    }
    switch (value.type()) {
      case Json::value_t::null:
        out_ += "null";
        return {};
      case Json::value_t::boolean:
        out_ += *value.get_ptr<const bool*>() ? "true" : "false";
        return {};
      case Json::value_t::number_integer:
        out_ += std::to_string(*value.get_ptr<const std::int64_t*>());
        return {};
      case Json::value_t::number_unsigned:
        out_ += std::to_string(*value.get_ptr<const std::uint64_t*>());
        return {};
      case Json::value_t::string:
        return String(*value.get_ptr<const std::string*>());
      case Json::value_t::array:
        return Array(value, depth);
      case Json::value_t::object:
        return Object(value, depth);
      default:
        return Fail(Code::kInvalid, "JSON documents of ours hold no fractions and no binary data");
    }
  }

  std::string Take() { return std::move(out_); }

 private:
  static Result<void> CheckDepth(std::size_t depth) {
    if (depth >= kMaxJsonDepth) {
      return Fail(Code::kLimit, "a JSON document is nested too deeply");
    }
    return {};
  }

  Result<void> Array(const Json& value, std::size_t depth) {
    MACO_TRY(CheckDepth(depth));
    char separator = '[';
    for (const Json& item : value) {
      out_ += separator;
      separator = ',';
      MACO_TRY(Value(item, depth + 1));
    }
    out_ += value.empty() ? "[]" : "]";
    return {};
  }

  Result<void> Object(const Json& value, std::size_t depth) {
    MACO_TRY(CheckDepth(depth));
    char separator = '{';
    for (auto member = value.begin(); member != value.end(); ++member) {
      out_ += separator;
      separator = ',';
      MACO_TRY(String(member.key()));
      out_ += ':';
      MACO_TRY(Value(member.value(), depth + 1));
    }
    out_ += value.empty() ? "{}" : "}";
    return {};
  }

  Result<void> String(std::string_view text) {
    if (!IsUtf8(text)) {
      return Fail(Code::kInvalid, "a JSON string is not UTF-8");
    }
    out_ += '"';
    for (const char c : text) {
      Character(c);
    }
    out_ += '"';
    return {};
  }

  // The escapes of RFC 8785, 3.2.2.2; all other characters stand for themselves.
  void Character(char c) {
    constexpr std::string_view kNamed = "\b\t\n\f\r\"\\";
    constexpr std::string_view kNames = "btnfr\"\\";
    constexpr char kHex[] = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    if (const auto at = kNamed.find(c); at != std::string_view::npos) {
      out_ += '\\';
      out_ += kNames[at];
    } else if (byte < 0x20) {
      out_ += "\\u00";
      out_ += kHex[byte >> 4U];
      out_ += kHex[byte & 15U];
    } else {
      out_ += c;
    }
  }

  std::string out_;
};

Mac DocumentMac(const std::string& canonical, const Key& key, std::string_view domain,
                std::string_view repository_id) {
  return ComputeMac(key.Subkey(domain), domain, {AsBytes(repository_id), AsBytes(canonical)});
}

Error BadMac(std::string_view reason) {
  return MakeError(Code::kCorrupt, "a signed document does not verify: " + std::string(reason));
}

// The value of "mac", if it has the form of one.
Result<Mac> StoredMac(const Json& document) {
  const auto member = document.find(kMacMember);
  if (member == document.end() || !member->is_string()) {
    return Fail(BadMac("it has no \"mac\""));
  }
  const auto bytes = FromHex(*member->get_ptr<const std::string*>());
  Mac mac{};
  if (!bytes || bytes->size() != mac.size()) {
    return Fail(BadMac("its \"mac\" is malformed"));
  }
  std::ranges::copy(*bytes, mac.begin());
  return mac;
}

}  // namespace

Result<std::string> Canonicalize(const Json& value, std::size_t depth) {
  Printer printer;
  MACO_TRY(printer.Value(value, depth));
  std::string out = printer.Take();
  if (out.size() > kMaxJsonBytes) {
    return Fail(Code::kLimit, "a JSON document is too large");
  }
  return out;
}

Result<std::string> SignDocument(Json document, const Key& key, std::string_view domain,
                                 std::string_view repository_id) {
  if (!document.is_object() || document.contains(kMacMember)) {
    return Fail(Code::kInvalid, "only an object without a \"mac\" can be signed");
  }
  std::string canonical;
  MACO_ASSIGN(canonical, Canonicalize(document));
  document[kMacMember] = ToHex(DocumentMac(canonical, key, domain, repository_id));
  return Canonicalize(document);
}

Result<Json> VerifyDocument(std::string_view text, std::size_t limit, const Key& key,
                            std::string_view domain, std::string_view repository_id) {
  Json document;
  MACO_ASSIGN(document, ParseJson(text, limit));
  if (!document.is_object()) {
    return Fail(BadMac("it is not an object"));
  }
  Mac stored{};
  MACO_ASSIGN(stored, StoredMac(document));
  document.erase(kMacMember);
  std::string canonical;
  MACO_ASSIGN(canonical, Canonicalize(document));
  if (!SameMac(stored, DocumentMac(canonical, key, domain, repository_id))) {
    return Fail(BadMac("its content was changed, or another key or repository signed it"));
  }
  return document;
}

}  // namespace maco

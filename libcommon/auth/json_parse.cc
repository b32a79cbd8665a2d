// The strict parser: builds a value from nlohmann's events, refusing what our documents may not
// hold. Contract: ParseJson in libcommon/auth/canonical_json.h, ParseForeignJson in foreign_json.h,
// docs/formats/canonical-json.md.
#include <exception>
#include <string>
#include <vector>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/auth/foreign_json.h"

namespace maco {
namespace {

// Receives the events of Json::sax_parse; returning false ends the parse.
class Builder {
 public:
  explicit Builder(bool fractions) : fractions_(fractions) {}
  bool null() { return Add(nullptr); }
  bool boolean(bool value) { return Add(value); }
  bool number_integer(std::int64_t value) { return Add(value); }
  bool number_unsigned(std::uint64_t value) { return Add(value); }
  bool number_float(double value, const std::string& /*text*/) {
    return fractions_ ? Add(value)
                      : Stop(Code::kInvalid, "it has a number that is no 64-bit integer");
  }
  bool string(std::string& value) { return Add(std::move(value)); }
  bool binary(Json::binary_t& /*value*/) { return Stop(Code::kInvalid, "it has binary data"); }
  bool start_object(std::size_t /*count*/) { return Enter(Json::object()); }
  bool start_array(std::size_t /*count*/) { return Enter(Json::array()); }
  bool end_object() { return Leave(); }
  bool end_array() { return Leave(); }
  bool key(std::string& name) {
    if (open_.back()->contains(name)) {
      return Stop(Code::kInvalid, "a name appears twice in one object");
    }
    name_ = std::move(name);
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) {
    return Stop(Code::kInvalid, "syntax error at byte " + std::to_string(position));
  }

  Error TakeError() { return std::move(error_); }
  Json TakeRoot() { return std::move(root_); }

 private:
  Json* Place(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    Json& member = parent[name_];
    member = std::move(value);
    return &member;
  }
  bool Add(Json value) {
    Place(std::move(value));
    return true;
  }
  bool Enter(Json empty) {
    if (open_.size() == kMaxJsonDepth) {
      return Stop(Code::kLimit, "it is nested too deeply");
    }
    open_.push_back(Place(std::move(empty)));
    return true;
  }
  bool Leave() {
    open_.pop_back();
    return true;
  }
  bool Stop(Code code, const std::string& reason) {
    error_ = MakeError(code, "bad JSON: " + reason);
    return false;
  }

  bool fractions_;
  Json root_;
  // The containers around the current place. A parent gets no new element while its child is open,
  // so the pointers stay good.
  std::vector<Json*> open_;
  std::string name_;
  Error error_;
};

Result<Json> Parse(std::string_view text, std::size_t limit, bool fractions) {
  if (text.size() > limit) {
    return Fail(Code::kLimit, "JSON text is larger than " + std::to_string(limit) + " bytes");
  }
  // The library takes a NUL for the end of the text, and skips a byte-order mark.
  if (text.find('\0') != std::string_view::npos || text.starts_with("\xEF\xBB\xBF")) {
    return Fail(Code::kInvalid, "bad JSON: it has a NUL or a byte-order mark");
  }
  try {
    Builder builder(fractions);
    if (!Json::sax_parse(text, &builder)) {
      return Fail(builder.TakeError());
    }
    return builder.TakeRoot();
  } catch (const std::exception& error) {
    return Fail(Code::kInvalid, std::string("bad JSON: ") + error.what());
  }
}

}  // namespace

Result<Json> ParseJson(std::string_view text, std::size_t limit) {
  return Parse(text, limit, false);
}

Result<Json> ParseForeignJson(std::string_view text, std::size_t limit) {
  return Parse(text, limit, true);
}

}  // namespace maco

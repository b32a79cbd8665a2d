// Row: one row of a store as its canonical text, parsed when its value is asked for.
// Contract: docs/formats/store.md ("Table").
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "libcommon/auth/json.h"
#include "libcommon/base/result.h"

namespace maco {

// To be read by one thread only, even where it is const: value() remembers what it parsed.
class Row {
 public:
  // The containers of a record that a row is in; it may be nested that much less.
  static constexpr std::size_t kDepth = 2;

  Row() = default;  // {}
  // Errors: as Canonicalize.
  static Result<Row> Of(const Json& value);
  // `text` was accepted by IsCanonicalJson, or by CanonicalParts as a part.
  static Row OfCanonical(std::string text);

  const std::string& text() const { return text_; }
  std::uint64_t bytes() const { return text_.size(); }
  bool is_object() const { return text_.front() == '{'; }
  const Json& value() const;

 private:
  explicit Row(std::string text) : text_(std::move(text)) {}

  std::string text_ = "{}";
  mutable std::optional<Json> value_;
};

}  // namespace maco

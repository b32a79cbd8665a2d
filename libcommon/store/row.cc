// Between the text of a row and its value.
// Contract: libcommon/store/row.h.
#include "libcommon/store/row.h"

#include <cstdlib>
#include <utility>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/report.h"

namespace maco {

Result<Row> Row::Of(const Json& value) {
  std::string text;
  MACO_ASSIGN(text, Canonicalize(value, kDepth));
  return Row(std::move(text));
}

Row Row::OfCanonical(std::string text) { return Row(std::move(text)); }

const Json& Row::value() const {
  if (!value_) {
    auto parsed = ParseJson(text_, text_.size());
    if (!parsed) {
      Note("maco", "a canonical text does not parse");  // never, by what the scanner promises
      std::abort();
    }
    value_ = *std::move(parsed);
  }
  return *value_;
}

}  // namespace maco

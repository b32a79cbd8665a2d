// Any bytes: parse, print canonically, parse again; the value and the form must be fixed points.
// The scanner must say the same of any text without parsing it.
// Contract under test: docs/formats/canonical-json.md.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/auth/canonical_scan.h"
#include "libcommon/base/byte_codec.h"

namespace {

constexpr std::size_t kLimit = 1 << 16;

void Require(bool ok) {
  if (!ok) {
    std::abort();
  }
}

// Scanner and parser agree, about the text and about each part of it.
void CheckScan(std::string_view text) {
  const auto value = maco::ParseJson(text, kLimit);
  const bool canonical = value && maco::Canonicalize(*value) == text;
  Require(maco::IsCanonicalJson(text, kLimit) == canonical);
  const auto parts = maco::CanonicalParts(text, kLimit, maco::kMaxJsonDepth);
  Require(parts.has_value() == canonical);
  if (!canonical) {
    return;
  }
  std::size_t own = 0;
  for (const auto& part : *parts) {
    Require(maco::IsCanonicalJson(part.value, part.value.size()));
    own += part.level == 1 ? 1 : 0;
    if (part.level != 1 || part.name.empty()) {
      continue;
    }
    const auto member = value->find(*maco::CanonicalString(part.name));
    Require(member != value->end() && maco::Canonicalize(*member) == part.value);
  }
  Require(own == (value->is_structured() ? value->size() : 0));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  CheckScan(maco::AsText({data, size}));
  const auto value = maco::ParseJson(maco::AsText({data, size}), kLimit);
  if (!value) {
    return 0;
  }
  const auto canonical = maco::Canonicalize(*value);
  Require(canonical.has_value());
  const auto again = maco::ParseJson(*canonical, canonical->size());
  Require(again.has_value() && *again == *value);
  Require(maco::Canonicalize(*again) == *canonical);
  CheckScan(*canonical);
  return 0;
}

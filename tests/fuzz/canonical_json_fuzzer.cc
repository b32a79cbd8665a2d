// Any bytes: parse, print canonically, parse again; the value and the form must be fixed points.
// Contract under test: docs/formats/canonical-json.md.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/byte_codec.h"

namespace {

constexpr std::size_t kLimit = 1 << 16;

void Require(bool ok) {
  if (!ok) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto value = maco::ParseJson(maco::AsText({data, size}), kLimit);
  if (!value) {
    return 0;
  }
  const auto canonical = maco::Canonicalize(*value);
  Require(canonical.has_value());
  const auto again = maco::ParseJson(*canonical, canonical->size());
  Require(again.has_value() && *again == *value);
  Require(maco::Canonicalize(*again) == *canonical);
  return 0;
}

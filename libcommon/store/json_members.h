// Reads members of a JSON object without throwing; nothing if one is missing or of another form.
// For the documents of libcommon/store.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "libcommon/auth/json.h"
#include "libcommon/base/text.h"

namespace maco {

inline const Json* Member(const Json& object, const char* name) {
  const auto member = object.find(name);
  return member == object.end() ? nullptr : &*member;
}

inline std::optional<std::uint64_t> UintMember(const Json& object, const char* name) {
  const Json* member = Member(object, name);
  const auto* value = member ? member->get_ptr<const Json::number_unsigned_t*>() : nullptr;
  return value ? std::optional<std::uint64_t>(*value) : std::nullopt;
}

inline const std::string* TextMember(const Json& object, const char* name) {
  const Json* member = Member(object, name);
  return member ? member->get_ptr<const std::string*>() : nullptr;
}

// N bytes as 2 N lower-case hex digits.
template <std::size_t N>
std::optional<std::array<std::uint8_t, N>> HexMember(const Json& object, const char* name) {
  const std::string* text = TextMember(object, name);
  const auto bytes = text ? FromHex(*text) : std::nullopt;
  if (!bytes || bytes->size() != N) {
    return std::nullopt;
  }
  std::array<std::uint8_t, N> out{};
  std::ranges::copy(*bytes, out.begin());
  return out;
}

}  // namespace maco

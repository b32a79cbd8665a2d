// The forms of names, and from numbers to names.
// Contract: libcommon/store/store_name.h, docs/formats/store.md.
#include "libcommon/store/store_name.h"

#include <algorithm>

#include "libcommon/base/text.h"

namespace maco {
namespace {

constexpr std::size_t kDigits = 6;
constexpr std::string_view kSuffix = ".log";

std::string SixDigits(std::uint64_t number) {
  std::string digits = std::to_string(number);
  digits.insert(0, kDigits - std::min(kDigits, digits.size()), '0');
  return digits;
}

}  // namespace

bool IsStoreName(std::string_view name) {
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  return !name.empty() && name.size() <= kMaxStoreNameBytes && letter(name[0]) &&
         std::ranges::all_of(
             name, [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '-'; });
}

bool IsStoreKey(std::string_view key) {
  return !key.empty() && key.size() <= kMaxStoreKeyBytes && IsUtf8(key) &&
         std::ranges::none_of(
             key, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

std::string JournalName(std::uint64_t number) { return SixDigits(number) + std::string(kSuffix); }

std::optional<std::uint64_t> ParseJournalName(std::string_view name) {
  if (name.size() != kDigits + kSuffix.size() || !name.ends_with(kSuffix)) {
    return std::nullopt;
  }
  const auto number = ParseUint(name.substr(0, kDigits));
  return number && *number > 0 ? number : std::nullopt;
}

LogIdentity JournalIdentity(const std::string& repository_id, const std::string& store,
                            std::uint64_t number) {
  return {repository_id, "store/" + store + "/" + SixDigits(number)};
}

}  // namespace maco

// Text from outside made safe: control escaping, UTF-8 checks, hex, base64, strict numbers.
// Pure functions; none fails except by returning nullopt.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace maco {

// C0, DEL and C1 controls and invalid UTF-8 become \xNN; the result is printable on one line.
std::string EscapeControl(std::string_view text);

// Well-formed UTF-8 by RFC 3629 (no surrogates, no overlong forms).
bool IsUtf8(std::string_view text);

std::string ToHex(std::span<const std::uint8_t> bytes);
std::optional<std::vector<std::uint8_t>> FromHex(std::string_view text);  // lower case only

std::string ToBase64(std::string_view bytes);  // RFC 4648 section 4, padded

// The first `bytes` of it, then "..." if that is not all; never half a character.
std::string Shorten(std::string_view text, std::size_t bytes);

// Digits only, no sign, no blanks, no overflow.
std::optional<std::uint64_t> ParseUint(std::string_view text);

// A byte count with an optional suffix k, m, g or t (powers of 1024, as git config has them).
std::optional<std::uint64_t> ParseSize(std::string_view text);

// Splits at every separator; an empty text gives one empty field.
std::vector<std::string_view> Split(std::string_view text, char separator);

}  // namespace maco

// Escaping between line ends and tabs; what may go on in the next piece is kept.
// Contract: maco-run/supervise/terminal_text.h.
#include "maco-run/supervise/terminal_text.h"

#include "libcommon/base/byte_codec.h"
#include "libcommon/base/text.h"

namespace maco::run {
namespace {

// Bytes at the end that the next piece may complete: CR, or the start of a UTF-8 sequence.
std::size_t Unfinished(std::string_view text) {
  if (text.ends_with('\r')) {
    return 1;
  }
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0U) == 0x80U) {
      continue;  // goes on
    }
    const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

// U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069: they show text in another order.
bool TurnsText(std::string_view text) {
  if (text.starts_with("\xD8\x9C")) {
    return true;
  }
  if (text.size() < 3 || text[0] != '\xE2') {
    return false;
  }
  const auto second = static_cast<unsigned char>(text[1]);
  const auto third = static_cast<unsigned char>(text[2]);
  return (second == 0x80 && (third == 0x8E || third == 0x8F || (third >= 0xAA && third <= 0xAE))) ||
         (second == 0x81 && third >= 0xA6 && third <= 0xA9);
}

// Of text that is UTF-8 and has no control characters any more.
std::string EscapeTurns(std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  while (!text.empty()) {
    const std::size_t size = !TurnsText(text) ? 0 : text[0] == '\xD8' ? 2 : 3;
    if (size == 0) {
      out.push_back(text[0]);
      text.remove_prefix(1);
      continue;
    }
    for (const char c : text.substr(0, size)) {
      const auto byte = static_cast<unsigned char>(c);
      out.append("\\x").push_back(kDigits[byte >> 4U]);
      out.push_back(kDigits[byte & 0xFU]);
    }
    text.remove_prefix(size);
  }
  return out;
}

std::string EscapePlain(std::string_view text) { return EscapeTurns(EscapeControl(text)); }

}  // namespace

std::string TerminalText::Add(std::span<const std::uint8_t> piece) {
  held_ += AsText(piece);
  const std::size_t whole = held_.size() - Unfinished(held_);
  std::string out = Escape(std::string_view(held_).substr(0, whole));
  held_.erase(0, whole);
  return out;
}

std::string TerminalText::Finish() {
  std::string out = EscapePlain(held_);
  held_.clear();
  return out;
}

std::string TerminalText::Escape(std::string_view text) const {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find_first_of("\t\n");
    std::string_view plain = text.substr(0, end);
    const bool crlf = end != std::string_view::npos && text[end] == '\n' && plain.ends_with('\r');
    if (crlf) {
      plain.remove_suffix(1);
    }
    out += EscapePlain(plain);
    if (end == std::string_view::npos) {
      break;
    }
    out += crlf ? "\r\n" : std::string(1, text[end]);
    text.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace maco::run

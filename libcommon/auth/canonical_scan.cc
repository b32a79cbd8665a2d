// One pass over the bytes; what is open stands in a fixed array, so depth needs no recursion.
// Contract: libcommon/auth/canonical_scan.h.
#include "libcommon/auth/canonical_scan.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/text.h"

namespace maco {
namespace {

constexpr std::string_view kNamedEscapes = "btnfr\"\\";
constexpr std::string_view kNamedBytes = "\b\t\n\f\r\"\\";
constexpr std::string_view kLargest = "18446744073709551615";      // 2^64 - 1
constexpr std::string_view kMostNegative = "9223372036854775808";  // 2^63, after a minus

constexpr std::uint64_t EightTimes(unsigned char byte) { return 0x0101010101010101U * byte; }

// Whether eight bytes are all ASCII that stands for itself in a string. With all of them below
// 0x80, a subtraction sets the high bit of the lowest byte that is smaller than what is taken from
// it, and of none if there is no such byte.
bool AllPlain(std::uint64_t bytes) {
  const std::uint64_t below_blank = bytes - EightTimes(0x20);
  const std::uint64_t quote = (bytes ^ EightTimes('"')) - EightTimes(1);
  const std::uint64_t backslash = (bytes ^ EightTimes('\\')) - EightTimes(1);
  return ((bytes | below_blank | quote | backslash) & EightTimes(0x80)) == 0;
}

bool IsPlain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The value of a lower-case hex digit, 16 if it is none.
unsigned HexDigit(char c) {
  if (IsDigit(c)) {
    return static_cast<unsigned>(c - '0');
  }
  return c >= 'a' && c <= 'f' ? static_cast<unsigned>(c - 'a') + 10U : 16U;
}

// Bytes of the escape that `text` begins with, 0 if it is not one of the canonical form.
std::size_t EscapeLength(std::string_view text) {
  constexpr std::string_view kUnnamed = "\\u00";
  if (text.size() >= 2 && kNamedEscapes.find(text[1]) != std::string_view::npos) {
    return 2;
  }
  if (text.size() < kUnnamed.size() + 2 || !text.starts_with(kUnnamed)) {
    return 0;
  }
  const unsigned byte = HexDigit(text[4]) * 16 + HexDigit(text[5]);
  const bool unnamed =
      byte < 0x20 && HexDigit(text[5]) < 16 &&
      kNamedBytes.find(static_cast<char>(byte)) == std::string_view::npos;  // else it has a name
  return unnamed ? kUnnamed.size() + 2 : 0;
}

std::string_view Unquoted(std::string_view slice) { return slice.substr(1, slice.size() - 2); }

// Without the escapes of a text that was scanned.
std::string Unescaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t plain = std::min(text.find('\\'), text.size());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) {
      break;
    }
    const std::size_t length = EscapeLength(text);
    out += length == 2 ? kNamedBytes[kNamedEscapes.find(text[1])]
                       : static_cast<char>(HexDigit(text[4]) * 16 + HexDigit(text[5]));
    text.remove_prefix(length);
  }
  return out;
}

class Scanner {
 public:
  Scanner(std::string_view text, std::size_t levels)
      : at_(text.data()), end_(text.data() + text.size()), levels_(levels) {}

  bool Run() {
    for (;;) {
      const Begun begun = Begin();
      if (begun == Begun::kWrong) {
        return false;
      }
      if (begun == Begun::kWhole && !Finish()) {
        return false;
      }
      if (depth_ == 0) {
        return at_ == end_;
      }
    }
  }

  std::vector<JsonPart> TakeParts() { return std::move(parts_); }

 private:
  enum class Begun { kWrong, kWhole, kInside };

  // An array or object that has begun and not ended, and where in it the scan is.
  struct Container {
    bool object = false;
    bool escaped = false;   // the name has an escape
    std::string_view name;  // of the last member, with quotes; empty before the first
    std::size_t part = 0;   // its place among the parts, if it is one of them
  };

  std::string_view rest() const { return {at_, static_cast<std::size_t>(end_ - at_)}; }

  bool Take(char c) {
    if (at_ == end_ || *at_ != c) {
      return false;
    }
    ++at_;
    return true;
  }

  // A whole scalar or empty container; or what comes before the first value inside one.
  Begun Begin() {
    if (at_ == end_) {
      return Begun::kWrong;
    }
    switch (*at_) {
      case '{':
        return Enter(true);
      case '[':
        return Enter(false);
      case '"':
        return Whole(String());
      case 'n':
        return Whole(Word("null"));
      case 't':
        return Whole(Word("true"));
      case 'f':
        return Whole(Word("false"));
      default:
        return Whole(Number());
    }
  }

  static Begun Whole(bool right) { return right ? Begun::kWhole : Begun::kWrong; }

  Begun Enter(bool object) {
    if (depth_ == kMaxJsonDepth) {
      return Begun::kWrong;
    }
    ++at_;
    if (Take(object ? '}' : ']')) {
      return Begun::kWhole;
    }
    open_[depth_] = Container();
    open_[depth_].object = object;
    ++depth_;
    return NextPart() ? Begun::kInside : Begun::kWrong;
  }

  // What follows a value: the next one, or the ends of the containers that it was the last of.
  bool Finish() {
    while (depth_ > 0) {
      const Container& container = open_[depth_ - 1];
      if (depth_ <= levels_) {
        std::string_view& value = parts_[container.part].value;
        value = {value.data(), static_cast<std::size_t>(at_ - value.data())};
      }
      if (Take(',')) {
        return NextPart();
      }
      if (!Take(container.object ? '}' : ']')) {
        return false;
      }
      --depth_;
    }
    return true;
  }

  // Up to the value of the next member or element.
  bool NextPart() {
    Container& container = open_[depth_ - 1];
    if (container.object && !Name(container)) {
      return false;
    }
    if (depth_ <= levels_) {
      container.part = parts_.size();
      parts_.push_back({depth_, container.name, std::string_view(at_, 0)});
    }
    return true;
  }

  bool Name(Container& container) {
    const char* const begin = at_;
    escaped_ = false;
    if (at_ == end_ || *at_ != '"' || !String()) {
      return false;
    }
    const std::string_view name(begin, static_cast<std::size_t>(at_ - begin));
    if (!container.name.empty() && !Ascends(container, name)) {
      return false;
    }
    container.name = name;
    container.escaped = escaped_;
    return Take(':');
  }

  // By the bytes that the names mean; an escape begins with another byte than it stands for.
  bool Ascends(const Container& before, std::string_view name) const {
    const std::string_view last = Unquoted(before.name);
    if (before.escaped || escaped_) {
      return Unescaped(last) < Unescaped(Unquoted(name));
    }
    return last < Unquoted(name);
  }

  bool Word(std::string_view word) {
    if (!rest().starts_with(word)) {
      return false;
    }
    at_ += word.size();
    return true;
  }

  bool Number() {
    const bool negative = Take('-');
    const char* const begin = at_;
    while (at_ != end_ && IsDigit(*at_)) {
      ++at_;
    }
    const std::string_view digits(begin, static_cast<std::size_t>(at_ - begin));
    if (digits.empty() || (digits.front() == '0' && (negative || digits.size() > 1))) {
      return false;
    }
    const std::string_view largest = negative ? kMostNegative : kLargest;
    return digits.size() < largest.size() || (digits.size() == largest.size() && digits <= largest);
  }

  // From the opening quote to behind the closing one.
  bool String() {
    ++at_;
    for (;;) {
      SkipPlain();
      if (at_ == end_) {
        return false;
      }
      if (*at_ == '"') {
        ++at_;
        return true;
      }
      if (!Special()) {
        return false;
      }
    }
  }

  void SkipPlain() {
    std::uint64_t bytes = 0;
    while (static_cast<std::size_t>(end_ - at_) >= sizeof bytes) {
      std::memcpy(&bytes, at_, sizeof bytes);
      if (!AllPlain(bytes)) {
        break;
      }
      at_ += sizeof bytes;
    }
    while (at_ != end_ && IsPlain(*at_)) {
      ++at_;
    }
  }

  // An escape, or characters beyond ASCII.
  bool Special() {
    if (*at_ == '\\') {
      const std::size_t length = EscapeLength(rest());
      at_ += length;
      escaped_ = true;
      return length > 0;
    }
    const char* const begin = at_;
    while (at_ != end_ && static_cast<unsigned char>(*at_) >= 0x80) {
      ++at_;
    }
    // A byte below 0x20 is left: it is none of these and may not stand in a string.
    return at_ != begin && IsUtf8({begin, static_cast<std::size_t>(at_ - begin)});
  }

  const char* at_;
  const char* end_;
  std::size_t levels_;
  std::size_t depth_ = 0;
  bool escaped_ = false;  // the last string had an escape; cleared before each name
  std::array<Container, kMaxJsonDepth> open_;
  std::vector<JsonPart> parts_;
};

bool TooLong(std::string_view text, std::size_t limit) {
  return text.size() > std::min(limit, kMaxJsonBytes);
}

}  // namespace

bool IsCanonicalJson(std::string_view text, std::size_t limit) {
  return !TooLong(text, limit) && Scanner(text, 0).Run();
}

std::optional<std::vector<JsonPart>> CanonicalParts(std::string_view text, std::size_t limit,
                                                    std::size_t levels) {
  if (TooLong(text, limit)) {
    return std::nullopt;
  }
  Scanner scanner(text, levels);
  if (!scanner.Run()) {
    return std::nullopt;
  }
  return scanner.TakeParts();
}

std::optional<std::string> CanonicalString(std::string_view slice) {
  if (slice.size() < 2 || slice.front() != '"') {
    return std::nullopt;
  }
  return Unescaped(Unquoted(slice));
}

}  // namespace maco

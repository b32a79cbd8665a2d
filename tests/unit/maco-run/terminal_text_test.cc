// Output on a terminal: nothing but text, line ends and tabs, wherever the pieces are cut.
// Contract under test: maco-run/supervise/terminal_text.h.
#include "maco-run/supervise/terminal_text.h"

#include <gtest/gtest.h>

#include "libcommon/base/byte_codec.h"

namespace maco::run {
namespace {

// In pieces of `size` bytes.
std::string Shown(std::string_view text, std::size_t size) {
  TerminalText terminal;
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += size) {
    out += terminal.Add(AsBytes(text.substr(at, size)));
  }
  return out + terminal.Finish();
}

struct Case {
  std::string_view text;
  std::string_view shown;
};

using namespace std::string_view_literals;

constexpr Case kCases[] = {
    {"plain\ttext\nand more\r\n", "plain\ttext\nand more\r\n"},
    {"gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x99\x82\n",
     "gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x99\x82\n"},
    {"\x1B[2J\x1B]0;title\x07", "\\x1b[2J\\x1b]0;title\\x07"},
    {"50%\r100%\n", "50%\\x0d100%\n"},
    {"end\r", "end\\x0d"},
    {"\r\r\n", "\\x0d\r\n"},
    {"a\0b\x7F"sv, "a\\x00b\\x7f"},
    {"\xC2\x9B"
     "31m",
     "\\xc2\\x9b31m"},
    {"\xFF\xFE", "\\xff\\xfe"},
    {"a\xE2\x80\xAE"
     "b\xE2\x81\xA6"
     "c\xE2\x80\x8F"
     "d\xD8\x9C.",
     "a\\xe2\\x80\\xaeb\\xe2\\x81\\xa6c\\xe2\\x80\\x8f"
     "d\\xd8\\x9c."},
    // Their neighbours are shown: U+202F, U+2065 is none, U+061B, U+200D.
    {"\xE2\x80\xAF\xD8\x9B\xE2\x80\x8D", "\xE2\x80\xAF\xD8\x9B\xE2\x80\x8D"},
    {"\xE2\x82", "\\xe2\\x82"},
    {"\xF0\x9F\n", "\\xf0\\x9f\n"},
    {"\x80\x80\x80\x80\x80", "\\x80\\x80\\x80\\x80\\x80"},
};

TEST(TerminalText, IsTheSameInPiecesOfEverySize) {
  for (const auto& one : kCases) {
    for (const std::size_t size :
         {std::size_t{1}, std::size_t{2}, std::size_t{3}, one.text.size()}) {
      EXPECT_EQ(Shown(one.text, size), one.shown) << size;
    }
  }
}

TEST(TerminalText, HoldsBackThreeBytesAtMost) {
  TerminalText terminal;
  EXPECT_EQ(terminal.Add(AsBytes("ab\xF0\x9F\x99"sv)), "ab");
  EXPECT_EQ(terminal.Add(AsBytes("\x82!"sv)), "\xF0\x9F\x99\x82!");
  EXPECT_EQ(terminal.Finish(), "");
}

}  // namespace
}  // namespace maco::run

// Text from outside: what is escaped, what is UTF-8, and which numbers are none.
// Contract under test: libcommon/base/text.h.
#include "libcommon/base/text.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace maco {
namespace {

TEST(EscapeControl, LeavesPrintableTextAlone) {
  for (const std::string text : {"", "plain text", "~ back\\slash", "\xC3\xA4", "\xE2\x82\xAC",
                                 "\xF0\x9F\x98\x80", "\xEF\xBF\xBF", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_EQ(EscapeControl(text), text);
  }
}

TEST(EscapeControl, MakesControlsVisible) {
  for (unsigned byte = 0; byte < 0x20; ++byte) {
    const std::string text(1, static_cast<char>(byte));
    const std::string escaped = EscapeControl(text);
    EXPECT_EQ(escaped.size(), 4U) << byte;
    EXPECT_TRUE(escaped.starts_with("\\x")) << byte;
  }
  EXPECT_EQ(EscapeControl("a\x1B[31mb\x7F"), "a\\x1b[31mb\\x7f");
  EXPECT_EQ(EscapeControl(std::string("a\0b", 3)), "a\\x00b");
  // C1 controls and the separators that some terminals and editors take for line ends.
  EXPECT_EQ(EscapeControl("\xC2\x80\xC2\x9F"), "\\xc2\\x80\\xc2\\x9f");
  EXPECT_EQ(EscapeControl("\xC2\xA0"), "\xC2\xA0");
  EXPECT_EQ(EscapeControl("\xE2\x80\xA8\xE2\x80\xA9"), "\\xe2\\x80\\xa8\\xe2\\x80\\xa9");
}

TEST(EscapeControl, MakesMalformedBytesVisible) {
  EXPECT_EQ(EscapeControl("\xFF"), "\\xff");
  EXPECT_EQ(EscapeControl("a\xC3"), "a\\xc3");
  EXPECT_EQ(EscapeControl("\xC3(\xE2\x82"), "\\xc3(\\xe2\\x82");
  EXPECT_EQ(EscapeControl("\x80\xBF"), "\\x80\\xbf");
}

TEST(EscapeControl, DoesNothingTwice) {
  std::string all;
  for (unsigned byte = 0; byte < 256; ++byte) {
    all.push_back(static_cast<char>(byte));
  }
  const std::string once = EscapeControl(all);
  EXPECT_EQ(EscapeControl(once), once);
  EXPECT_TRUE(IsUtf8(once));
}

TEST(IsUtf8, FollowsRfc3629) {
  for (const std::string good :
       {"", "a", "\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
        "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(IsUtf8(good)) << EscapeControl(good);
  }
  for (const std::string bad :
       {"\x80", "\xC0\x80", "\xC1\xBF",                      // overlong
        "\xE0\x9F\xBF", "\xF0\x8F\xBF\xBF",                  // overlong
        "\xED\xA0\x80", "\xED\xBF\xBF",                      // surrogates
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF",      // above U+10FFFF
        "\xC2", "\xE2\x82", "\xF0\x9F\x98", "\xE2\x28\xA1",  // cut, or no continuation
        "a\xC2", "\xC2\xC2"}) {
    EXPECT_FALSE(IsUtf8(bad)) << EscapeControl(bad);
  }
}

TEST(Hex, RoundTrips) {
  const std::vector<std::uint8_t> bytes{0x00, 0x0F, 0xA0, 0xFF};
  EXPECT_EQ(ToHex(bytes), "000fa0ff");
  EXPECT_EQ(FromHex("000fa0ff"), bytes);
  EXPECT_EQ(ToHex({}), "");
  EXPECT_TRUE(FromHex("").has_value());
}

TEST(Hex, RefusesAllElse) {
  for (const std::string bad : {"0", "000", "0g", "FF", "0x", " 0", "0 ", "\xFF\xFF"}) {
    EXPECT_FALSE(FromHex(bad).has_value()) << bad;
  }
}

TEST(Base64, HasThePaddingOfRfc4648) {
  EXPECT_EQ(ToBase64(""), "");
  EXPECT_EQ(ToBase64("f"), "Zg==");
  EXPECT_EQ(ToBase64("fo"), "Zm8=");
  EXPECT_EQ(ToBase64("foo"), "Zm9v");
  EXPECT_EQ(ToBase64("foob"), "Zm9vYg==");
  EXPECT_EQ(ToBase64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(ToBase64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(ToBase64("\xFB\xFF\xBF"), "+/+/");
  EXPECT_EQ(ToBase64(std::string("\0", 1)), "AA==");
}

TEST(ParseUint, TakesDigitsOnly) {
  EXPECT_EQ(ParseUint("0"), 0U);
  EXPECT_EQ(ParseUint("007"), 7U);
  EXPECT_EQ(ParseUint("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
  for (const std::string bad : {"", "-1", "+1", " 1", "1 ", "1\n", "0x1", "1.0", "1e3", "a",
                                "18446744073709551616", "99999999999999999999"}) {
    EXPECT_FALSE(ParseUint(bad).has_value()) << bad;
  }
  EXPECT_FALSE(ParseUint(std::string_view("1\0", 2)).has_value());
}

TEST(Shorten, NeverCutsACharacter) {
  EXPECT_EQ(Shorten("abc", 3), "abc");
  EXPECT_EQ(Shorten("abcd", 3), "abc...");
  EXPECT_EQ(Shorten("", 0), "");
  EXPECT_EQ(Shorten("x", 0), "...");
  const std::string text = "a\u00e4\u20ac\U0001f600z";  // 1, 2, 3, 4, 1 bytes
  for (std::size_t bytes = 0; bytes < text.size(); ++bytes) {
    const std::string cut = Shorten(text, bytes);
    EXPECT_TRUE(IsUtf8(cut)) << bytes;
    EXPECT_LE(cut.size(), bytes + 3);
    EXPECT_GE(cut.size(), bytes) << "no more than one character is lost";
  }
}

TEST(ParseSize, KnowsPowersOf1024) {
  EXPECT_EQ(ParseSize("12"), 12U);
  EXPECT_EQ(ParseSize("1k"), 1024U);
  EXPECT_EQ(ParseSize("1K"), 1024U);
  EXPECT_EQ(ParseSize("3m"), 3U << 20U);
  EXPECT_EQ(ParseSize("3G"), std::uint64_t{3} << 30U);
  EXPECT_EQ(ParseSize("2t"), std::uint64_t{2} << 40U);
  EXPECT_EQ(ParseSize("16777215t"), std::uint64_t{16777215} << 40U);
  for (const std::string bad :
       {"", "k", "1kk", "1 k", "1kb", "1p", "-1k", "1.5g", "16777216t", "18446744073709551615k"}) {
    EXPECT_FALSE(ParseSize(bad).has_value()) << bad;
  }
}

TEST(Split, KeepsEmptyFields) {
  using Fields = std::vector<std::string_view>;
  EXPECT_EQ(Split("", ','), Fields{""});
  EXPECT_EQ(Split("a", ','), Fields{"a"});
  EXPECT_EQ(Split("a,,b,", ','), (Fields{"a", "", "b", ""}));
  EXPECT_EQ(Split(",", ','), (Fields{"", ""}));
}

}  // namespace
}  // namespace maco

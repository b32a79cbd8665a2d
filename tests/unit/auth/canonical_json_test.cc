// What the parser refuses, what the canonical form is, and what a signature covers.
// Contract under test: docs/formats/canonical-json.md.
#include "libcommon/auth/canonical_json.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace maco {
namespace {

constexpr std::size_t kLimit = 1 << 20;

Key TestKey(std::uint8_t fill) {
  const std::vector<std::uint8_t> bytes(Key::kBytes, fill);
  return *Key::FromBytes(bytes);
}

std::string Canonical(std::string_view text) {
  const auto value = ParseJson(text, kLimit);
  EXPECT_TRUE(value.has_value()) << text;
  return value ? Canonicalize(*value).value_or("?") : "?";
}

TEST(ParseJson, RefusesWhatOurDocumentsMayNotHold) {
  using namespace std::string_literals;
  const std::string cases[] = {
      ""s,
      " "s,
      "{"s,
      "[1,]"s,
      "{\"a\":1,}"s,
      "{a:1}"s,
      "1.0"s,
      "1e3"s,
      "-1.5"s,
      "NaN"s,
      "Infinity"s,
      "-"s,
      "01"s,
      "+1"s,
      "0x10"s,
      "1 2"s,
      "{} {}"s,
      "{}x"s,
      "// c\n1"s,
      "/* c */ 1"s,
      "'a'"s,
      "\"a\nb\""s,
      "\"\\x\""s,
      "\"\\ud800\""s,
      "\"\xff\""s,
      "\"\xc0\x80\""s,
      "\"\xed\xa0\x80\""s,
      "\"a"s,
      "tru"s,
      "{}\0"s,
      "\0"s,
      "\"\0\""s,
      "\xEF\xBB\xBF{}"s,
      "[1\0]"s,
      "18446744073709551616"s,
      "-9223372036854775809"s,
      "{\"a\":1,\"a\":2}"s,
      "{\"b\":{\"a\":1,\"\\u0061\":2}}"s,
  };
  for (const std::string& text : cases) {
    const auto value = ParseJson(text, kLimit);
    ASSERT_FALSE(value.has_value()) << text;
    EXPECT_EQ(value.error().code, Code::kInvalid) << text;
  }
}

TEST(ParseJson, BoundsSizeAndDepth) {
  EXPECT_TRUE(ParseJson("[1,2]", 5));
  EXPECT_EQ(ParseJson("[1,2]", 4).error().code, Code::kLimit);
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(ParseJson(nested(kMaxJsonDepth), kLimit));
  EXPECT_EQ(ParseJson(nested(kMaxJsonDepth + 1), kLimit).error().code, Code::kLimit);
  EXPECT_EQ(ParseJson(std::string(kLimit, '['), kLimit).error().code, Code::kLimit);
}

TEST(Canonicalize, GivesOneForm) {
  EXPECT_EQ(Canonical(" { \"b\" : [ 1 , -2 , { } , [ ] ] , \"a\" : null , \"\" : true } "),
            R"({"":true,"a":null,"b":[1,-2,{},[]]})");
  EXPECT_EQ(Canonical("-0"), "0");
  EXPECT_EQ(Canonical("18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(Canonical("-9223372036854775808"), "-9223372036854775808");
}

TEST(Canonicalize, EscapesAsRfc8785) {
  EXPECT_EQ(Canonical(R"("\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/\b\f\n\r\t\u007f")"),
            "\"\u20ac$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\\b\\f\\n\\r\\t\x7f\"");
  EXPECT_EQ(Canonical(R"("\ud83d\ude00")"), "\"\U0001F600\"");
}

TEST(Canonicalize, OrdersNamesByBytes) {
  EXPECT_EQ(Canonical("{\"\u00f6\":1,\"z\":2,\"A\":3,\"\U0001F600\":4,\"\uFB33\":5}"),
            "{\"A\":3,\"z\":2,\"\u00f6\":1,\"\uFB33\":5,\"\U0001F600\":4}");
}

TEST(Canonicalize, RefusesFloatsBadTextAndDepth) {
  EXPECT_EQ(Canonicalize(Json(1.5)).error().code, Code::kInvalid);
  EXPECT_EQ(Canonicalize(Json("\xff")).error().code, Code::kInvalid);
  Json bad_name = Json::object();
  bad_name["\xff"] = 1;
  EXPECT_EQ(Canonicalize(bad_name).error().code, Code::kInvalid);
  Json deep = 1;
  for (std::size_t i = 0; i <= kMaxJsonDepth; ++i) {
    Json outer = Json::array();
    outer.push_back(std::move(deep));
    deep = std::move(outer);
  }
  EXPECT_EQ(Canonicalize(deep).error().code, Code::kLimit);
  EXPECT_EQ(Canonicalize(Json(std::string(kMaxJsonBytes, 'x'))).error().code, Code::kLimit);
}

TEST(SignDocument, RoundTrips) {
  Json document = Json::object();
  document["schema"] = "maco.test/1";
  document["n"] = 5;
  const auto text = SignDocument(document, TestKey(1), "maco.test/1", "repo");
  ASSERT_TRUE(text);
  const auto back = VerifyDocument(*text, kLimit, TestKey(1), "maco.test/1", "repo");
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, document);
  // Blanks and order of members carry no meaning.
  const std::string pretty = ParseJson(*text, kLimit)->dump(2);
  EXPECT_TRUE(VerifyDocument(pretty, kLimit, TestKey(1), "maco.test/1", "repo"));
}

TEST(VerifyDocument, FailsForAnotherKeyDomainOrRepository) {
  const std::string text = *SignDocument(Json::object(), TestKey(1), "maco.test/1", "repo");
  EXPECT_EQ(VerifyDocument(text, kLimit, TestKey(2), "maco.test/1", "repo").error().code,
            Code::kCorrupt);
  EXPECT_EQ(VerifyDocument(text, kLimit, TestKey(1), "maco.test/2", "repo").error().code,
            Code::kCorrupt);
  EXPECT_EQ(VerifyDocument(text, kLimit, TestKey(1), "maco.test/1", "repo2").error().code,
            Code::kCorrupt);
}

TEST(VerifyDocument, EveryFlippedBitIsNoticed) {
  Json document = Json::object();
  document["list"] = {1, "two", nullptr, true};
  const std::string text = *SignDocument(document, TestKey(1), "maco.test/1", "repo");
  for (std::size_t bit = 0; bit < text.size() * 8; ++bit) {
    std::string changed = text;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    const auto result = VerifyDocument(changed, kLimit, TestKey(1), "maco.test/1", "repo");
    EXPECT_FALSE(result.has_value()) << changed;
  }
}

TEST(SignDocument, RefusesWhatCannotCarryAMac) {
  EXPECT_EQ(SignDocument(Json::array(), TestKey(1), "d/1", "r").error().code, Code::kInvalid);
  Json taken = Json::object();
  taken["mac"] = "x";
  EXPECT_EQ(SignDocument(taken, TestKey(1), "d/1", "r").error().code, Code::kInvalid);
}

TEST(VerifyDocument, RefusesMalformedMacs) {
  for (const char* text :
       {"[]", "{}", "{\"mac\":1}", "{\"mac\":\"\"}", "{\"mac\":\"AB\"}", "{\"mac\":\"0g\"}"}) {
    EXPECT_EQ(VerifyDocument(text, kLimit, TestKey(1), "d/1", "r").error().code, Code::kCorrupt)
        << text;
  }
}

}  // namespace
}  // namespace maco

// What the scanner takes and refuses, one case for each rule; and that it never differs from the
// parser with the printer.
// Contract under test: docs/formats/canonical-json.md, libcommon/auth/canonical_scan.h.
#include "libcommon/auth/canonical_scan.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "libcommon/auth/canonical_json.h"

namespace maco {
namespace {

using namespace std::string_literals;

constexpr std::size_t kLimit = 1 << 20;

bool Scans(std::string_view text) { return IsCanonicalJson(text, kLimit); }

// What the scanner must say.
bool HasCanonicalForm(std::string_view text, std::size_t limit = kLimit) {
  const auto value = ParseJson(text, limit);
  return value && Canonicalize(*value) == text;
}

std::string Nested(std::size_t depth, const std::string& open, const std::string& close) {
  std::string out;
  for (std::size_t i = 0; i < depth; ++i) {
    out += open;
  }
  for (std::size_t i = 0; i < depth; ++i) {
    out += close;
  }
  return out;
}

TEST(CanonicalScan, TakesEachKindOfValue) {
  const std::string cases[] = {
      "null",
      "true",
      "false",
      "0",
      "1",
      "-1",
      "10",
      "9223372036854775808",
      "18446744073709551615",
      "-9223372036854775808",
      "\"\"",
      "\"plain text of more than eight bytes\"",
      R"("\b\t\n\f\r\"\\")",
      R"("\u0000\u0001\u000b\u001f")",
      "\"/\x7f\"",
      "\"\u00e4\u20ac\U0001F600\U0010FFFF\"",
      "[]",
      "{}",
      "[null,[],{},\"a\",-5]",
      R"({"":1,"a":{"b":[1,{"c":2}]},"aa":3,"b":[]})",
      "{\"A\":3,\"z\":2,\"\u00f6\":1,\"\uFB33\":5,\"\U0001F600\":4}",  // by bytes, not UTF-16
      R"({"\u0001":1,"\t":2,"!":3,"\"":4,"#":5,"\\":6,"]":7})",        // by what the escapes mean
      R"({"a":1,"a\u0000":2,"a!":3})",
  };
  for (const std::string& text : cases) {
    EXPECT_TRUE(Scans(text)) << text;
    EXPECT_TRUE(HasCanonicalForm(text)) << text;
  }
}

TEST(CanonicalScan, RefusesWhatBreaksOneRule) {
  const std::string cases[] = {
      // Of RFC 8259.
      ""s,
      "nul"s,
      "nulll"s,
      "True"s,
      "'a'"s,
      "\"a"s,
      "\"a\\"s,
      "\"\\u00"s,
      "\"\\u000"s,
      "\"\\x\""s,
      "\"a\nb\""s,
      "\"a b c d e\x1f\""s,
      "["s,
      "[1"s,
      "[1,"s,
      "[1,]"s,
      "[,1]"s,
      "[1 2]"s,
      "[1}"s,
      "]"s,
      ","s,
      "{"s,
      "{\"a\""s,
      "{\"a\":"s,
      "{\"a\":1"s,
      "{\"a\":1,}"s,
      "{\"a\",1}"s,
      "{\"a\"}"s,
      "{a:1}"s,
      "{1:1}"s,
      "{\"a\":1]"s,
      "1 2"s,
      "{}{}"s,
      "{}x"s,
      "// c\n1"s,
      // Of our documents.
      "1.0"s,
      "1e3"s,
      "1E3"s,
      "-"s,
      "--1"s,
      "+1"s,
      "18446744073709551616"s,
      "99999999999999999999"s,
      "100000000000000000000"s,
      "-9223372036854775809"s,
      "{\"a\":1,\"a\":2}"s,
      "\"\xff\""s,
      "\"\x80\""s,
      "\"\xc3\""s,
      "\"\xc0\x80\""s,
      "\"\xe2\x82\""s,
      "\"\xed\xa0\x80\""s,
      "\"\xf4\x90\x80\x80\""s,
      "\0"s,
      "1\0"s,
      "\"\0\""s,
      "\xEF\xBB\xBF{}"s,
      Nested(kMaxJsonDepth + 1, "[", "]"),
      // Of the canonical form.
      " 1"s,
      "1 "s,
      "1\n"s,
      "[ ]"s,
      "[1, 2]"s,
      "{\"a\": 1}"s,
      "-0"s,
      "00"s,
      "01"s,
      "-01"s,
      R"("\/")"s,
      R"("\u0041")"s,
      R"("\u0008")"s,
      R"("\u000a")"s,
      R"("\u000F")"s,
      R"("\u0022")"s,
      R"("\u005c")"s,
      R"("\u00e4")"s,
      R"("\U0001")"s,
      R"("\ud83d\ude00")"s,
      R"({"b":1,"a":2})"s,
      R"({"aa":1,"a":2})"s,
      R"({"#":1,"\"":2})"s,
      R"({"]":1,"\\":2})"s,
      R"({"a":{"c":1,"b":2}})"s,
      "{\"\U0001F600\":4,\"\uFB33\":5}"s,
  };
  for (const std::string& text : cases) {
    EXPECT_FALSE(Scans(text)) << text;
    EXPECT_FALSE(HasCanonicalForm(text)) << text;
  }
}

TEST(CanonicalScan, BoundsSizeAndDepth) {
  EXPECT_TRUE(IsCanonicalJson("[1,2]", 5));
  EXPECT_FALSE(IsCanonicalJson("[1,2]", 4));
  EXPECT_TRUE(Scans(Nested(kMaxJsonDepth, "[", "]")));
  EXPECT_FALSE(Scans(std::string(kLimit, '[')));
  const std::string deep = Nested(kMaxJsonDepth - 1, "{\"a\":[", "]}");
  EXPECT_FALSE(Scans(deep));
  EXPECT_FALSE(HasCanonicalForm(deep));
  const std::string large = "\"" + std::string(kMaxJsonBytes - 1, 'a') + "\"";
  EXPECT_FALSE(IsCanonicalJson(large, 2 * kMaxJsonBytes));
  EXPECT_TRUE(IsCanonicalJson(large.substr(1), 2 * kMaxJsonBytes) == false);
  EXPECT_TRUE(IsCanonicalJson("\"" + large.substr(2), kMaxJsonBytes));
}

TEST(CanonicalScan, ListsThePartsDownToALevel) {
  const std::string text = R"({"delete":["x","y"],"n":-7,"put":{"a\"b":{"c":[1]},"d":{}},"z":[]})";
  const auto two = CanonicalParts(text, kLimit, 2);
  ASSERT_TRUE(two);
  std::string listed;
  for (const JsonPart& part : *two) {
    listed += std::to_string(part.level) + " " + std::string(part.name) + " " +
              std::string(part.value) + "\n";
  }
  EXPECT_EQ(listed,
            "1 \"delete\" [\"x\",\"y\"]\n"
            "2  \"x\"\n"
            "2  \"y\"\n"
            "1 \"n\" -7\n"
            "1 \"put\" {\"a\\\"b\":{\"c\":[1]},\"d\":{}}\n"
            "2 \"a\\\"b\" {\"c\":[1]}\n"
            "2 \"d\" {}\n"
            "1 \"z\" []\n");
  EXPECT_EQ(CanonicalParts(text, kLimit, 1)->size(), 4U);
  EXPECT_EQ(CanonicalParts(text, kLimit, 0)->size(), 0U);
  EXPECT_EQ(CanonicalParts("7", kLimit, 2)->size(), 0U);
  EXPECT_FALSE(CanonicalParts(text + " ", kLimit, 2));
  EXPECT_FALSE(CanonicalParts(text, text.size() - 1, 2));
}

TEST(CanonicalScan, SaysWhatAStringSays) {
  EXPECT_EQ(CanonicalString("\"\""), "");
  EXPECT_EQ(CanonicalString("\"a\u00e4\""), "a\u00e4");
  EXPECT_EQ(CanonicalString(R"("\b\t\n\f\r\"\\\u0000\u001f.")"), "\b\t\n\f\r\"\\\0\x1f."s);
  EXPECT_FALSE(CanonicalString("1"));
  EXPECT_FALSE(CanonicalString("{}"));
  EXPECT_FALSE(CanonicalString(""));
}

// Values at random, with what is at the edges more often than chance would have it.
class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {}

  std::size_t Below(std::size_t bound) { return random_() % bound; }

  Json Value(std::size_t depth) {
    switch (Below(depth == 0 ? 5 : 8)) {
      case 0:
        return nullptr;
      case 1:
        return Below(2) == 0;
      case 2:
        return Number();
      case 3:
      case 4:
        return Text();
      case 5: {
        Json out = Json::array();
        for (std::size_t i = Below(4); i > 0; --i) {
          out.push_back(Value(depth - 1));
        }
        return out;
      }
      default: {
        Json out = Json::object();
        for (std::size_t i = Below(5); i > 0; --i) {
          out[Text()] = Value(depth - 1);
        }
        return out;
      }
    }
  }

  std::string Text() {
    const std::string pieces[] = {"a",          "b",    "\"",          "\\", "/",      "\n",
                                  "\x01",       "\x1f", "\x7f",        "!",  "]",      "\u00e4",
                                  "\U0001F600", "\0"s,  "twelve long", "u",  "\uFFFF", "0"};
    std::string out;
    for (std::size_t i = Below(4); i > 0; --i) {
      out += pieces[Below(std::size(pieces))];
    }
    return out;
  }

  // A change that often leaves JSON, and sometimes canonical JSON.
  void Mutate(std::string& text) {
    const std::string pieces[] = {" ",   ",",      "\"",      "{",  "}",  "[",    "]",   ":",
                                  "0",   "-",      "1",       "a",  "\\", "\xc3", ".",   "e",
                                  "\0"s, "\\u000", "\\u0041", "\\", "\t", "null", "\x80"};
    const std::size_t at = Below(text.size() + 1);
    const std::size_t take = std::min(Below(3), text.size() - at);
    if (Below(4) == 0 && take > 0) {
      text[at] = static_cast<char>(text[at] ^ (1 << Below(8)));
    } else if (Below(3) == 0) {
      const std::string part = text.substr(at, 1 + Below(6));
      text.insert(Below(text.size() + 1), part);
    } else {
      text.replace(at, take, Below(3) == 0 ? "" : pieces[Below(std::size(pieces))]);
    }
  }

 private:
  Json Number() {
    switch (Below(5)) {
      case 0:
        return ~std::uint64_t{0} - Below(2);
      case 1:
        return std::numeric_limits<std::int64_t>::min() + static_cast<std::int64_t>(Below(2));
      case 2:
        return -static_cast<std::int64_t>(Below(300));
      default:
        return Below(1000);
    }
  }

  std::mt19937 random_;
};

TEST(CanonicalScan, NeverDiffersFromParserAndPrinter) {
  Maker maker(20'250'101);
  std::size_t canonical = 0;
  std::size_t others = 0;
  for (int document = 0; document < 4000; ++document) {
    const Json value = maker.Value(5);
    const std::string text = *Canonicalize(value);
    ASSERT_TRUE(Scans(text)) << text;
    ASSERT_EQ(*ParseJson(text, kLimit), value) << text;
    for (const std::string& other : {value.dump(1), value.dump(-1, ' ', true)}) {
      ASSERT_EQ(Scans(other), HasCanonicalForm(other)) << other;
    }
    std::string mutant = text;
    for (int mutation = 0; mutation < 12; ++mutation) {
      maker.Mutate(mutant);
      const bool expected = HasCanonicalForm(mutant);
      ASSERT_EQ(Scans(mutant), expected) << mutant;
      ++(expected ? canonical : others);
      if (mutation % 4 == 3) {
        mutant = text;
      }
    }
  }
  EXPECT_GT(canonical, 2000U);  // the mutations are worth something both ways
  EXPECT_GT(others, 2000U);
}

// Each byte of a text that has everything, changed in each way.
TEST(CanonicalScan, NeverDiffersOnAnyChangedByte) {
  const std::string text =
      "{\"\":[true,false,null,0,-12,18446744073709551615],\"\\u0001\":{},\"a\\\"\":\"\u00e4"
      "\\n\\u001f\U0001F600\",\"b\":{\"c\":[],\"d\":\"long enough for a step\"}}";
  ASSERT_TRUE(Scans(text));
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (unsigned byte = 0; byte < 256; ++byte) {
      std::string changed = text;
      changed[at] = static_cast<char>(byte);
      ASSERT_EQ(Scans(changed), HasCanonicalForm(changed)) << changed;
    }
    ASSERT_EQ(Scans(text.substr(0, at)), HasCanonicalForm(text.substr(0, at)));
    const std::string cut = text.substr(0, at) + text.substr(at + 1);
    ASSERT_EQ(Scans(cut), HasCanonicalForm(cut)) << cut;
  }
}

}  // namespace
}  // namespace maco

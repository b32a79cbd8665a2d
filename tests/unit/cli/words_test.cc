// Words of a command line, whatever tool it is of.
// Contract under test: libcommon/cli/words.h, libcommon/cli/verb_rule.h.
#include "libcommon/cli/words.h"

#include <gtest/gtest.h>

#include "libcommon/cli/verb_rule.h"

namespace maco {
namespace {

constexpr OptionRule kTable[] = {{"json"},
                                 {"n,dry-run"},
                                 {"z"},
                                 {"note", Takes::kText},
                                 {"body", Takes::kAnyText},
                                 {"m,message", Takes::kText}};

Result<Words> Read(std::vector<const char*> words) {
  words.insert(words.begin(), "tool");
  return ReadWords("git maco tool", kTable, static_cast<int>(words.size()), words.data());
}

std::string Failure(std::vector<const char*> words) {
  const auto read = Read(std::move(words));
  return read ? "" : read.error().message;
}

TEST(Words, OptionsAndNamesMayMix) {
  const auto words = Read({"a", "-n", "b", "--note", "x", "-z", "--note=y,z", "-"});
  ASSERT_TRUE(words) << words.error().message;
  EXPECT_EQ(words->names(), (std::vector<std::string>{"a", "b", "-"}));
  EXPECT_TRUE(words->Has("dry-run"));
  EXPECT_TRUE(words->Has("z"));
  EXPECT_FALSE(words->Has("json"));
  EXPECT_EQ(words->Text("note"), "y,z");
  EXPECT_EQ(words->Texts("note"), (std::vector<std::string>{"x", "y,z"}));
  EXPECT_EQ(words->Text("body"), "");
}

TEST(Words, AValueMayStandRightBehindAShortOption) {
  for (const char* text : {"x", "two words", "fix-1", "=x", "\xc3\xa9", "a\nb", "-n", "--json"}) {
    const auto words = Read({(std::string("-m") + text).c_str(), "a"});
    ASSERT_TRUE(words) << text << ": " << words.error().message;
    EXPECT_EQ(words->Text("message"), text);
    EXPECT_EQ(words->names(), std::vector<std::string>{"a"});
    EXPECT_EQ(Read({"-m", text})->Text("message"), text);
    EXPECT_EQ(Read({(std::string("--message=") + text).c_str()})->Text("message"), text);
  }
  const auto both = Read({"-nmtwo words"});
  ASSERT_TRUE(both);
  EXPECT_TRUE(both->Has("dry-run"));
  EXPECT_EQ(both->Text("message"), "two words");
}

TEST(Words, WhatAnOptionTakesIsNotTakenApart) {
  const auto words = Read({"--note", "-mtwo words", "-m", "-nm x", "--body", "--note"});
  ASSERT_TRUE(words) << words.error().message;
  EXPECT_EQ(words->Text("note"), "-mtwo words");
  EXPECT_EQ(words->Text("message"), "-nm x");
  EXPECT_EQ(words->Text("body"), "--note");
  EXPECT_FALSE(words->Has("dry-run"));
}

TEST(Words, NothingBehindDashesIsAnOption) {
  const auto words = Read({"a", "--", "--json", "--", "-x"});
  ASSERT_TRUE(words);
  EXPECT_EQ(words->names(), (std::vector<std::string>{"a", "--json", "--", "-x"}));
  EXPECT_FALSE(words->Has("json"));
}

TEST(Words, HelpIsAlwaysThere) {
  EXPECT_TRUE(Read({"-h"})->Has("help"));
  EXPECT_TRUE(Read({"a", "--help"})->Has("help"));
}

TEST(Words, WhatIsWrongIsNamed) {
  EXPECT_EQ(Failure({"--note="}), "--note is empty");
  EXPECT_EQ(Failure({"--note", ""}), "--note is empty");
  EXPECT_EQ(Failure({"--body", ""}), "");
  EXPECT_EQ(Failure({"--json=false"}), "--json takes no value");
  EXPECT_EQ(Failure({"--no\x1b"}), "unknown option '--no\\x1b'");
  EXPECT_EQ(Failure({"-x"}), "unknown option '-x'");
  EXPECT_NE(Failure({"--note"}), "");
  EXPECT_EQ(Failure({"--json", "-z"}), "--json and -z exclude each other");
  const auto read = Read({"--jso"});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::kUsage);
  EXPECT_EQ(read.error().remedy, "see 'git maco tool -h'");
}

enum class Verb { kGo, kStay };

Result<VerbWords<Verb>> ReadVerbs(std::vector<const char*> words) {
  static const std::vector<VerbRule<Verb>> kRules = {{"go", Verb::kGo, 1, 2, {"json", "note"}},
                                                     {"stay", Verb::kStay, 0, 0, {}}};
  words.insert(words.begin(), "tool");
  return ReadVerb("git maco tool", kRules, kTable, static_cast<int>(words.size()), words.data());
}

std::string VerbFailure(std::vector<const char*> words) {
  const auto read = ReadVerbs(std::move(words));
  return read ? "" : read.error().message;
}

TEST(VerbRule, EachTakesItsOwn) {
  const auto go = ReadVerbs({"go", "--json", "there"});
  ASSERT_TRUE(go);
  ASSERT_NE(go->rule, nullptr);
  EXPECT_EQ(go->rule->verb, Verb::kGo);
  EXPECT_EQ(go->words.names(), std::vector<std::string>{"there"});
  EXPECT_EQ(ReadVerbs({"-h"})->rule, nullptr);
  EXPECT_EQ(ReadVerbs({"stay", "-h"})->rule, nullptr);
  EXPECT_EQ(VerbFailure({"stay", "--json"}), "'stay' takes no --json");
  EXPECT_EQ(VerbFailure({"stay", "here"}), "wrong number of arguments for 'stay'");
  EXPECT_EQ(VerbFailure({"go"}), "wrong number of arguments for 'go'");
  EXPECT_EQ(VerbFailure({"go", "a", "b", "c"}), "wrong number of arguments for 'go'");
  EXPECT_EQ(VerbFailure({"run"}), "unknown command 'run'");
  EXPECT_EQ(VerbFailure({}), "no command given");
}

}  // namespace
}  // namespace maco

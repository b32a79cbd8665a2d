// The command line of maco-worktree.
#include "maco-worktree/options.h"

#include <gtest/gtest.h>

namespace maco::worktree {
namespace {

Result<Options> Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "maco-worktree");
  return ParseOptions(static_cast<int>(arguments.size()), arguments.data());
}

std::string Failure(std::vector<const char*> arguments) {
  const auto options = Parse(std::move(arguments));
  return options ? "" : options.error().message;
}

TEST(Options, PathsOfClaimsKeepTheirCommas) {
  const auto options = Parse({"create", "--claim", "a,b", "--claim=c", "alpha"});
  ASSERT_TRUE(options.has_value());
  EXPECT_EQ(options->claims, (std::vector<std::string>{"a,b", "c"}));
  EXPECT_EQ(options->names, (std::vector<std::string>{"alpha"}));
}

TEST(Options, WhatStandsBehindDashesIsNoOption) {
  const auto options = Parse({"claim", "alpha", "--", "-x", "--", "--take-over"});
  ASSERT_TRUE(options.has_value());
  EXPECT_EQ(options->names, (std::vector<std::string>{"alpha", "-x", "--", "--take-over"}));
  EXPECT_FALSE(options->take_over);
}

TEST(Options, ATextThatIsAskedForIsNotEmpty) {
  EXPECT_NE(Failure({"accept", "--unverified", "", "alpha"}), "");
  EXPECT_NE(Failure({"reject", "--reason", "", "alpha"}), "");
  EXPECT_NE(Failure({"repair", "--untaint", "", "alpha"}), "");
  EXPECT_NE(Failure({"create", "--base", "", "alpha"}), "");
  EXPECT_NE(Failure({"check", "--candidate", "", "alpha"}), "");
}

TEST(Options, ExcludeEachOther) {
  EXPECT_NE(Failure({"list", "--json", "-z"}), "");
  EXPECT_NE(Failure({"apply", "--index", "--commit", "alpha"}), "");
  EXPECT_NE(Failure({"apply", "--continue", "--abort", "alpha"}), "");
  EXPECT_NE(Failure({"apply", "--continue", "--commit", "alpha"}), "");
  EXPECT_NE(Failure({"apply", "--abort", "--unverified", "x", "alpha"}), "");
  EXPECT_NE(Failure({"apply", "-m", "x", "alpha"}), "");
  EXPECT_NE(Failure({"owner", "--staged", "src"}), "");
  EXPECT_NE(Failure({"owner"}), "");
}

TEST(Options, TimesHaveUnits) {
  const auto seconds = [](const char* text) {
    const auto options = Parse({"gc", "--max-age", text});
    return options ? options->max_age_seconds : 0;
  };
  EXPECT_EQ(seconds("90"), 90U);
  EXPECT_EQ(seconds("45m"), 2700U);
  EXPECT_EQ(seconds("12h"), 43200U);
  EXPECT_EQ(seconds("14d"), 1209600U);
  for (const char* wrong : {"0", "", "d", "1s", "-1", "1.5h", "99999999999999999999", "36501d"}) {
    EXPECT_EQ(seconds(wrong), 0U) << wrong;
  }
}

TEST(Options, AVerbTakesItsOwn) {
  EXPECT_EQ(Failure({"list", "--discard"}), "'list' takes no --discard");
  EXPECT_EQ(Failure({"list", "--no-such"}), "unknown option '--no-such'");
  EXPECT_EQ(Failure({"bogus"}), "unknown command 'bogus'");
  EXPECT_EQ(Failure({}), "no command given");
}

}  // namespace
}  // namespace maco::worktree

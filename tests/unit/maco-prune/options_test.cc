// The command line of maco-prune. Tests maco-prune/options.cc.
#include "maco-prune/options.h"

#include <gtest/gtest.h>

namespace maco::prune {
namespace {

Result<Options> Parse(std::vector<const char*> words) {
  words.insert(words.begin(), "maco-prune");
  return ParseOptions(static_cast<int>(words.size()), words.data());
}

TEST(PruneOptionsTest, Rules) {
  const auto options = Parse({"--keep", "3", "--keep-daily=4", "--keep-weekly", "5", "--max-age",
                              "2d", "--max-bytes", "1k", "--state", "completed,refused", "-n"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->verb, Verb::kPrune);
  EXPECT_EQ(options->policy.keep, 3U);
  EXPECT_EQ(options->policy.keep_daily, 4U);
  EXPECT_EQ(options->policy.keep_weekly, 5U);
  EXPECT_EQ(options->policy.max_age_seconds, 2U * 86'400);
  EXPECT_EQ(options->policy.max_bytes, 1024U);
  EXPECT_EQ(options->policy.outcomes,
            (std::vector<std::string>{"command_completed", "run_refused"}));
  EXPECT_TRUE(options->dry_run);
  EXPECT_FALSE(options->json || options->nul);
}

TEST(PruneOptionsTest, VerbsAndNames) {
  EXPECT_EQ(Parse({})->verb, Verb::kPrune);
  EXPECT_TRUE(Parse({})->policy.empty());
  EXPECT_EQ(Parse({"-h"})->verb, Verb::kHelp);
  EXPECT_EQ(Parse({"inspect"})->verb, Verb::kInspect);
  EXPECT_EQ(Parse({"restore", "a.1"})->verb, Verb::kRestore);
  const auto discard = Parse({"discard", "-n", "a.1", "b"});
  ASSERT_TRUE(discard);
  EXPECT_EQ(discard->verb, Verb::kDiscard);
  EXPECT_EQ(discard->names, (std::vector<std::string>{"a.1", "b"}));
}

TEST(PruneOptionsTest, WhatIsRefused) {
  for (const auto& words :
       std::vector<std::vector<const char*>>{{"--keep", "-1"},
                                             {"--keep", ""},
                                             {"--keep", "1x"},
                                             {"--max-age", "x"},
                                             {"--max-age", ""},
                                             {"--max-bytes", "x"},
                                             {"--state", ""},
                                             {"--state", "x"},
                                             {"--state", "completed,"},
                                             {"--json", "-z"},
                                             {"--bogus"},
                                             {"bogus"},
                                             {"restore"},
                                             {"discard"},
                                             {"inspect", "-z"},
                                             {"inspect", "--keep", "1"},
                                             {"discard", "a", "--state", "refused"},
                                             {"--keep"}}) {
    const auto options = Parse(words);
    ASSERT_FALSE(options) << words.front() << " " << words.back();
    EXPECT_EQ(options.error().code, Code::kUsage);
  }
}

}  // namespace
}  // namespace maco::prune

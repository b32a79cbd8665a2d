// The command line: what belongs to us, what belongs to the command, and what is refused.
// Contract under test: maco-run/options.h, docs/man/maco-run.1.
#include "maco-run/options.h"

#include <gtest/gtest.h>
#include <stdlib.h>

namespace maco::run {
namespace {

using Words = std::vector<std::string>;

Result<Options> Parse(const Words& words) {
  std::vector<const char*> argv{"maco-run"};
  for (const auto& word : words) {
    argv.push_back(word.c_str());
  }
  argv.push_back(nullptr);
  return ParseOptions(static_cast<int>(argv.size()) - 1, argv.data());
}

// Our own options, with a command after them.
Result<Options> ParseOwn(Words words) {
  words.insert(words.end(), {"--", "true"});
  return Parse(words);
}

TEST(Options, TheCommandIsByteExact) {
  const Words command{"a b", "", "--json", "--", "-h", "--write", "\xFF\n", "$x", "*"};
  Words words{"--json", "--"};
  words.insert(words.end(), command.begin(), command.end());
  const auto options = Parse(words);
  ASSERT_TRUE(options.has_value());
  EXPECT_EQ(options->request.command, command);
  EXPECT_TRUE(options->json);
  EXPECT_TRUE(options->request.write_roots.empty());
}

TEST(Options, DefaultsAreTheNarrowestProfile) {
  const auto options = ParseOwn({});
  ASSERT_TRUE(options.has_value());
  EXPECT_EQ(options->action, Options::Action::kRun);
  EXPECT_EQ(options->request.profile, Profile::kOfflineRead);
  EXPECT_FALSE(options->json);
  EXPECT_FALSE(options->request.with_result);
  EXPECT_EQ(options->evidence_fd, -1);
  EXPECT_TRUE(options->limit_flags.empty());
}

TEST(Options, NeedACommandAfterTheDashes) {
  for (const Words& words : {Words{}, Words{"--"}, Words{"--json"}, Words{"--json", "--"}}) {
    EXPECT_EQ(Parse(words).error().code, Code::kUsage);
  }
  // Without the dashes it is not known whose the words are.
  EXPECT_EQ(Parse({"true"}).error().code, Code::kUsage);
  EXPECT_EQ(Parse({"true", "--", "true"}).error().code, Code::kUsage);
}

TEST(Options, EveryValueOfAListIsOneValue) {
  const auto options = ParseOwn({"--profile", "offline-write", "--write", "a,b", "--write=c d",
                                 "--write", "-", "--env", "A=1,B=2", "--env", "C=x=y"});
  ASSERT_TRUE(options.has_value()) << options.error().message;
  EXPECT_EQ(options->request.write_roots, (Words{"a,b", "c d", "-"}));
  EXPECT_EQ(options->request.variables, (Words{"A=1,B=2", "C=x=y"}));
  EXPECT_EQ(options->request.profile, Profile::kOfflineWrite);
}

TEST(Options, PassEnvTakesTheValueOfOurOwn) {
  setenv("MACO_TEST_VALUE", "x,y\n", 1);
  unsetenv("MACO_TEST_NONE");
  const auto options = ParseOwn({"--pass-env", "MACO_TEST_VALUE"});
  ASSERT_TRUE(options.has_value());
  EXPECT_EQ(options->request.variables, Words{"MACO_TEST_VALUE=x,y\n"});
  EXPECT_EQ(ParseOwn({"--pass-env", "MACO_TEST_NONE"}).error().code, Code::kUsage);
}

TEST(Options, SizesHaveSuffixesAndCountsHaveNone) {
  const auto options = ParseOwn(
      {"--memory", "1g",   "--fsize",        "2m", "--tmp",          "3M",  "--output-limit", "4k",
       "--result", "r",    "--result-limit", "5k", "--tasks",        "100", "--cpu",          "50",
       "--nofile", "1024", "--timeout",      "7",  "--scan-entries", "9"});
  ASSERT_TRUE(options.has_value()) << options.error().message;
  const Limits limits = ChooseLimits({}, options->limit_flags)->limits;
  EXPECT_EQ(limits.memory_bytes, 1ULL << 30U);
  EXPECT_EQ(limits.file_bytes, 2ULL << 20U);
  EXPECT_EQ(limits.temporary_bytes, 3ULL << 20U);
  EXPECT_EQ(limits.output_bytes, 4096U);
  EXPECT_EQ(limits.result_bytes, 5120U);
  EXPECT_EQ(limits.tasks, 100U);
  EXPECT_EQ(limits.cpu_percent, 50U);
  EXPECT_EQ(limits.open_files, 1024U);
  EXPECT_EQ(limits.timeout_seconds, 7U);
  EXPECT_EQ(limits.scan_entries, 9U);
  EXPECT_EQ(options->result_file, "r");
  EXPECT_TRUE(options->request.with_result);
}

TEST(Options, NumbersThatAreNoneAreRefused) {
  for (const char* option : {"--memory", "--tasks", "--cpu", "--nofile", "--fsize", "--tmp",
                             "--timeout", "--output-limit", "--scan-entries"}) {
    for (const char* value : {"x", "-1", "1.5", "0x10", " 1", "1p", "18446744073709551616"}) {
      const auto options = ParseOwn({std::string(option) + "=" + value});
      ASSERT_FALSE(options.has_value()) << option << " " << value;
      EXPECT_EQ(options.error().code, Code::kUsage) << option << " " << value;
    }
    EXPECT_EQ(ParseOwn({std::string(option) + "=0"}).error().code, Code::kInvalid) << option;
  }
  EXPECT_FALSE(ParseOwn({"--timeout", "1m"}).has_value());
  EXPECT_FALSE(ParseOwn({"--tasks", "1k"}).has_value());
}

TEST(Options, UnknownOnesAreRefused) {
  for (const char* word : {"--unknown", "-x", "--writ", "--j", "--no-json", "-j"}) {
    const auto options = ParseOwn({word});
    ASSERT_FALSE(options.has_value()) << word;
    EXPECT_EQ(options.error().code, Code::kUsage);
    EXPECT_FALSE(options.error().remedy.empty());
  }
}

TEST(Options, MissingValuesAreRefused) {
  for (const char* word : {"--profile", "--write", "--env", "--memory", "--result"}) {
    EXPECT_EQ(ParseOwn({word}).error().code, Code::kUsage) << word;
  }
}

TEST(Options, OnlyTheProfilesOfACallerAreKnown) {
  EXPECT_EQ(ParseOwn({"--profile", "diagnostic"})->request.profile, Profile::kDiagnostic);
  for (const char* name : {"", "offline", "Offline-Read", "codex", "provider", "offline-read "}) {
    EXPECT_EQ(ParseOwn({std::string("--profile=") + name}).error().code, Code::kUsage) << name;
  }
}

TEST(Options, EvidenceGoesToOnePlace) {
  EXPECT_EQ(ParseOwn({"--evidence-fd", "7"})->evidence_fd, 7);
  EXPECT_EQ(ParseOwn({"--json", "--evidence-fd", "7"}).error().code, Code::kUsage);
  for (const char* value : {"x", "-1", "1048577", ""}) {
    EXPECT_EQ(ParseOwn({std::string("--evidence-fd=") + value}).error().code, Code::kUsage)
        << value;
  }
}

TEST(Options, AResultLimitNeedsAResult) {
  EXPECT_EQ(ParseOwn({"--result-limit", "1k"}).error().code, Code::kUsage);
}

TEST(Options, HelpAndVersionNeedNoCommand) {
  EXPECT_EQ(Parse({"-h"})->action, Options::Action::kHelp);
  EXPECT_EQ(Parse({"--help"})->action, Options::Action::kHelp);
  EXPECT_EQ(Parse({"--version"})->action, Options::Action::kVersion);
  EXPECT_EQ(ParseOwn({"-h"})->action, Options::Action::kHelp);
  EXPECT_TRUE(Usage().starts_with("usage: maco-run "));
}

TEST(Options, ASwitchIsNotTurnedOffIntoOn) {
  const auto options = ParseOwn({"--json=false"});
  EXPECT_TRUE(!options.has_value() || !options->json);
}

}  // namespace
}  // namespace maco::run

// What doctor prints: lines, the JSON document, and what qualifies.
// Tests git-maco/doctor/answer.cc, doctor.cc.
#include "git-maco/doctor/answer.h"

#include <gtest/gtest.h>

#include "git-maco/doctor/doctor.h"
#include "libcommon/auth/canonical_json.h"

namespace maco::doctor {
namespace {

Answer Good() {
  Answer answer;
  answer.checks = {{"linux", State::kOk, "Linux 6.1", "uname(2)", "", Scope::kHost},
                   {"lingering", State::kNote, "off", "a file", "switch it on", Scope::kHost},
                   {"state", State::kOk, "initialized", "a file", "", Scope::kRepository}};
  answer.probe.verdict = Verdict::kVerified;
  answer.probe.words = "it ran";
  answer.probe.run = "00";
  return answer;
}

TEST(Answer, AGoodHost) {
  const Answer answer = Good();
  EXPECT_TRUE(Qualifies(answer));
  EXPECT_TRUE(AllGood(answer));
  EXPECT_EQ(AnswerText(answer),
            "ok       linux               Linux 6.1 (uname(2))\n"
            "note     lingering           off (a file)\n"
            "           fix: switch it on\n"
            "ok       state               initialized (a file)\n"
            "ok       probe               it ran\n"
            "verified runs work here\n");
}

TEST(Answer, AMissingPrerequisite) {
  Answer answer = Good();
  answer.checks[0].state = State::kMissing;
  answer.checks[0].fix = "get one";
  answer.probe.verdict = Verdict::kRefused;
  answer.probe.words = "no";
  answer.probe.reasons = {"cgroup.files.memory.max: is \"max\""};
  answer.probe.silent = {{"MemoryMax", "cgroup.files.memory.max: is \"max\""}};
  EXPECT_FALSE(Qualifies(answer));
  const std::string text = AnswerText(answer);
  EXPECT_NE(
      text.find("MISSING  linux               Linux 6.1 (uname(2))\n           fix: get one\n"),
      std::string::npos);
  EXPECT_NE(text.find("MISSING  probe               refused: no\n"
                      "           failed: cgroup.files.memory.max: is \"max\"\n"
                      "           accepted and silently not applied: MemoryMax\n"),
            std::string::npos);
  EXPECT_NE(text.find("verified runs will be refused here: linux, probe\n"), std::string::npos);
}

TEST(Answer, TheRepositoryDoesNotDisqualifyTheHost) {
  Answer answer = Good();
  answer.checks[2].state = State::kMissing;
  EXPECT_TRUE(Qualifies(answer));
  EXPECT_FALSE(AllGood(answer));
}

TEST(Answer, ChecksWithoutAProofDoNotQualify) {
  for (const Verdict verdict : {Verdict::kRefused, Verdict::kUnproven, Verdict::kNotRun}) {
    Answer answer = Good();
    answer.probe.verdict = verdict;
    EXPECT_FALSE(Qualifies(answer));
    EXPECT_FALSE(AllGood(answer));
  }
}

TEST(Answer, JsonHasAllMembers) {
  Answer answer = Good();
  answer.checks[0].observed = "bad \xff and \x1b[31m";
  answer.probe.silent = {{"MemoryMax", "a reason"}};
  const auto text = AnswerJson(answer);
  ASSERT_TRUE(text);
  const auto document = ParseJson(*text, kMaxJsonBytes);
  ASSERT_TRUE(document);
  EXPECT_EQ((*document)["schema"], "maco.doctor/1");
  EXPECT_EQ((*document)["qualifies"], true);
  EXPECT_EQ((*document)["checks"][0]["observed"], "bad \\xff and \\x1b[31m");
  EXPECT_EQ((*document)["checks"][1]["state"], "note");
  EXPECT_EQ((*document)["checks"][2]["scope"], "repository");
  EXPECT_EQ((*document)["probe"]["verdict"], "verified");
  EXPECT_EQ((*document)["probe"]["silent"][0]["property"], "MemoryMax");
  EXPECT_EQ((*document)["probe"]["kernel"], nullptr);
}

TEST(DoctorOptions, AreChecked) {
  EXPECT_TRUE(ParseOptions({"--json"})->json);
  EXPECT_TRUE(ParseOptions({"-h"})->help);
  EXPECT_FALSE(ParseOptions({})->json);
  const auto wrong = ParseOptions({"--jsn"});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, Code::kUsage);
}

}  // namespace
}  // namespace maco::doctor

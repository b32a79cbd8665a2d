// Verdicts of the probe from exit status, messages and evidence.
// Tests git-maco/doctor/judge_probe.cc.
#include "git-maco/doctor/probe.h"

#include <gtest/gtest.h>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/os/bounded_read.h"

namespace maco::doctor {
namespace {

// A real document of an accepted run; its signature is not looked at here.
Json Publishable() {
  const auto text =
      ReadPath(std::string(MACO_VECTORS) + "/evidence-v1-publishable.json", kMaxJsonBytes);
  EXPECT_TRUE(text);
  auto document = ParseJson(*text, kMaxJsonBytes);
  EXPECT_TRUE(document);
  return *document;
}

ProbeRun ProbeWith(int status, std::optional<Json> evidence, std::string error_output = {}) {
  ProbeRun run;
  run.exit_status = status;
  run.evidence = std::move(evidence);
  run.error_output = std::move(error_output);
  return run;
}

TEST(JudgeProbe, APublishableRunIsVerified) {
  Json evidence = Publishable();
  evidence["outcome"]["target"] = {{"exited", 0}};
  const ProbeAnswer answer = JudgeProbe(ProbeWith(0, evidence));
  EXPECT_EQ(answer.verdict, Verdict::kVerified);
  EXPECT_TRUE(answer.reasons.empty());
  EXPECT_TRUE(answer.silent.empty());
  EXPECT_EQ(answer.run, evidence["run"]);
  EXPECT_EQ(answer.kernel, evidence["host"]["kernel"]);
}

TEST(JudgeProbe, StatusZeroWithoutEvidenceProvesNothing) {
  EXPECT_EQ(JudgeProbe(ProbeWith(0, std::nullopt)).verdict, Verdict::kUnproven);
  ProbeRun run = ProbeWith(0, std::nullopt);
  run.evidence_failure = "the MAC does not match";
  const ProbeAnswer answer = JudgeProbe(run);
  EXPECT_EQ(answer.verdict, Verdict::kUnproven);
  EXPECT_NE(answer.words.find("does not verify"), std::string::npos);
  Json evidence = Publishable();
  evidence["publishable"] = false;
  EXPECT_EQ(JudgeProbe(ProbeWith(0, evidence)).verdict, Verdict::kUnproven);
}

TEST(JudgeProbe, ARefusalKeepsMacoRunsWords) {
  const ProbeAnswer answer =
      JudgeProbe(ProbeWith(125, std::nullopt, "maco-run: no systemd user manager; start one\n"));
  EXPECT_EQ(answer.verdict, Verdict::kRefused);
  EXPECT_EQ(answer.words, "no systemd user manager; start one");
  EXPECT_EQ(answer.exit_status, 125);
  EXPECT_TRUE(answer.run.empty());
}

TEST(JudgeProbe, OtherEndsAreUnproven) {
  EXPECT_EQ(JudgeProbe(ProbeWith(122, Publishable(), "maco-run: not publishable: x\n")).words,
            "not publishable: x");
  EXPECT_EQ(JudgeProbe(ProbeWith(137, std::nullopt)).words,
            "maco-run ended with status 137 and printed no evidence");
  ProbeRun run;
  run.failure = "run '/x/maco-run': No such file or directory";
  EXPECT_EQ(JudgeProbe(run).verdict, Verdict::kNotRun);
  EXPECT_EQ(VerdictName(JudgeProbe(run).verdict), "not-run");
}

TEST(SilentProperties, NoneInAPublishableDocument) {
  EXPECT_TRUE(FindSilentProperties(Publishable()).empty());
}

// The reason that the judge of maco-run gives, and the property that it unmasks.
TEST(SilentProperties, EachContradictionNamesItsProperty) {
  const std::pair<const char*, const char*> cases[] = {
      {"inside.namespaces.net: is the host's own namespace", "PrivateNetwork"},
      {"inside.namespaces.ipc: is the host's own namespace", "PrivateIPC"},
      {"outside.uid_map: is \"0 0 4294967295\", expected \"1000 1000 1\"", "PrivateUsers"},
      {"inside.status.NoNewPrivs: is \"0\", expected \"1\"", "NoNewPrivileges"},
      {"inside.mounts: '/' is not read-only", "ProtectSystem"},
      {"inside.mounts: '/sys/fs/cgroup' (cgroup2) is writable, but was not granted",
       "ProtectControlGroups"},
      {"inside.mounts: '/dev' (devtmpfs) is writable, but was not granted", "PrivateDevices"},
      {"inside.masks./run/dbus: is still visible inside the unit", "TemporaryFileSystem"},
      {"cgroup.files.memory.max: is \"max\", expected \"1073741824\"", "MemoryMax"},
      {"cgroup.files.pids.max: was requested, but not observed", "TasksMax"},
      {"the unit's cgroup has no 'memory.max': controller 'memory' is not delegated", "MemoryMax"},
      {"inside.limits.nofile.soft: is 1024, expected 512", "LimitNOFILE"},
  };
  for (const auto& [reason, property] : cases) {
    Json evidence = Publishable();
    evidence["reasons"] = Json::array({"something.else: is wrong", reason});
    const auto silent = FindSilentProperties(evidence);
    ASSERT_FALSE(silent.empty()) << reason;
    EXPECT_EQ(silent.front().property, property) << reason;
    EXPECT_EQ(silent.front().observation, reason);
  }
}

TEST(SilentProperties, WhatDidNotReadBackWasNotSilent) {
  Json evidence = Publishable();
  evidence["reasons"] = Json::array({"cgroup.files.pids.max: is \"max\", expected \"512\""});
  evidence["observations"]["properties"]["TasksMax"] = 1;
  EXPECT_TRUE(FindSilentProperties(evidence).empty());
  evidence["observations"].erase("properties");
  EXPECT_TRUE(FindSilentProperties(evidence).empty());
}

TEST(SilentProperties, AnyDocumentIsSurvived) {
  for (const char* text : {"{}", "[]", "null", R"({"reasons":7})", R"({"reasons":[7,null]})",
                           R"({"reasons":["inside.masks.x"],"requested":[]})"}) {
    EXPECT_TRUE(FindSilentProperties(*ParseJson(text, kMaxJsonBytes)).empty()) << text;
  }
}

}  // namespace
}  // namespace maco::doctor

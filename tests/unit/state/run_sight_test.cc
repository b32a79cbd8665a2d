// What one run's directory shows, for every state in which a crash, damage or a writer can leave
// it. Tests libcommon/state/run_sight.cc.
#include "tests/unit/state/run_fixture.h"

namespace maco {
namespace {

TEST_F(RunFixture, EachKindOfEnd) {
  struct Case {
    std::vector<std::string> events;
    RunKind kind;
  };
  for (const Case& c :
       std::vector<Case>{{{}, RunKind::kIdle},
                         {{"run_planned"}, RunKind::kIdle},
                         {{"run_planned", "command_started"}, RunKind::kUncertain},
                         {{"run_planned", "command_started", "command_completed"}, RunKind::kIdle},
                         {{"run_planned", "command_started", "command_unproven"}, RunKind::kIdle},
                         {{"run_planned", "run_refused"}, RunKind::kIdle},
                         {{"run_planned", "something_new"}, RunKind::kUncertain}}) {
    const RunSight sight = Look(MakeRun(c.events));
    EXPECT_FALSE(sight.error) << sight.error->message;
    EXPECT_EQ(sight.last_event, c.events.empty() ? "" : c.events.back());
    EXPECT_EQ(Conclude(sight).kind, c.kind) << sight.last_event;
  }
}

TEST_F(RunFixture, AnUncertainRunTellsItsCommandAndItsRemedy) {
  const std::string id = MakeRun({"run_planned", "command_started"});
  const RunSight sight = Look(id);
  EXPECT_EQ(sight.command, Json::array({"make", "all"}));
  EXPECT_NE(sight.started_us, 0U);
  EXPECT_NE(Conclude(sight).remedy.find("git maco journal resolve " + id), std::string::npos);
}

TEST_F(RunFixture, AHeldRunIsRunning) {
  const std::string id = NewId();
  {
    LogWriter journal = Open(id, {"run_planned", "command_started"});
    const RunSight sight = Look(id);
    EXPECT_TRUE(sight.held);
    EXPECT_EQ(Conclude(sight).kind, RunKind::kRunning);
  }
  EXPECT_EQ(Conclude(Look(id)).kind, RunKind::kUncertain);
}

TEST_F(RunFixture, AFinishedRunNeedsItsEvidence) {
  const std::vector<std::string> finished{"run_planned", "command_started", "command_completed"};
  std::string id = MakeRun(finished);
  std::filesystem::remove(EvidencePath(id));
  EXPECT_EQ(Conclude(Look(id)).kind, RunKind::kUncertain);

  // Of another run: it verifies, but is not the document that the journal names.
  id = MakeRun(finished);
  WriteFile(EvidencePath(id), *SignDocument({{"run", "another"}}, state().key(), "maco.evidence/1",
                                            state().repository_id()));
  EXPECT_EQ(Conclude(Look(id)).kind, RunKind::kUncertain);

  id = MakeRun(finished);
  chmod(EvidencePath(id).c_str(), 0644);
  EXPECT_EQ(Conclude(Look(id)).kind, RunKind::kUncertain);

  id = MakeRun(finished);
  std::filesystem::rename(EvidencePath(id), EvidencePath(id) + ".real");
  std::filesystem::create_symlink(EvidencePath(id) + ".real", EvidencePath(id));
  EXPECT_EQ(Conclude(Look(id)).kind, RunKind::kUncertain);
}

TEST_F(RunFixture, EvidenceMustBeSigned) {
  const std::string id = NewId();
  const std::string text = R"({"publishable":true})";
  {
    LogWriter journal = Open(id, {"run_planned", "command_started"});
    Append(journal,
           {{"event", "command_completed"}, {"evidence_sha256", ToHex(Sha256(AsBytes(text)))}});
    ASSERT_TRUE(journal.Close());
  }
  WriteFile(EvidencePath(id), text);
  EXPECT_EQ(Conclude(Look(id)).kind, RunKind::kUncertain);
}

TEST_F(RunFixture, DamageIsNamed) {
  const std::string id = MakeRun({"run_planned", "command_started"});
  std::string bytes = *ReadPath(JournalPath(id), 1U << 24U);
  bytes[bytes.find("command_started")] ^= 1;
  WriteFile(JournalPath(id), bytes);
  const RunSight sight = Look(id);
  ASSERT_TRUE(sight.error);
  EXPECT_EQ(Conclude(sight).kind, RunKind::kDamaged);
  EXPECT_NE(Conclude(sight).remedy, "");
}

TEST_F(RunFixture, AJournalThatIsGone) {
  const std::string id = MakeRun({"run_planned", "command_started"});
  std::filesystem::remove(JournalPath(id));
  EXPECT_EQ(Conclude(Look(id)).kind, RunKind::kDamaged) << "other files show that there was one";
  const std::string begun = NewId();
  std::filesystem::create_directory(RunPath(begun));
  EXPECT_EQ(Conclude(Look(begun)).kind, RunKind::kIdle) << "nothing was asked for yet";
}

TEST_F(RunFixture, AnotherRunsJournalIsDamage) {
  const std::string one = MakeRun({"run_planned", "command_started"});
  const std::string two = MakeRun({"run_planned", "run_refused"});
  std::filesystem::copy_file(JournalPath(two), JournalPath(one),
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(Conclude(Look(one)).kind, RunKind::kDamaged);
}

TEST_F(RunFixture, WhatIsNoRunIsDamage) {
  WriteFile(RunPath("stray"), "x");
  EXPECT_EQ(Conclude(Look("stray")).kind, RunKind::kDamaged);
  const std::string id = NewId();
  WriteFile(RunPath(id), "x");
  EXPECT_EQ(Conclude(Look(id)).kind, RunKind::kDamaged);
  const std::string link = NewId();
  std::filesystem::create_directory_symlink(RunPath(MakeRun({"run_planned"})), RunPath(link));
  EXPECT_EQ(Conclude(Look(link)).kind, RunKind::kDamaged);
}

TEST(ConcludeTest, AStartThatNoHeadNamesIsUncertain) {
  RunSight sight;
  sight.last_event = "run_planned";
  sight.unnamed_event = "command_started";
  EXPECT_EQ(Conclude(sight).kind, RunKind::kUncertain);
  // And so is a start whose end is not durable yet.
  sight.last_event = "command_started";
  sight.unnamed_event = "command_completed";
  EXPECT_EQ(Conclude(sight).kind, RunKind::kUncertain);
  sight.last_event = "";
  sight.unnamed_event = "run_planned";
  EXPECT_EQ(Conclude(sight).kind, RunKind::kIdle);
}

TEST_F(RunFixture, ARecordThatIsNoEventIsDamage) {
  const std::string id = NewId();
  {
    LogWriter journal = Open(id, {"run_planned"});
    ASSERT_TRUE(journal.Append(AsBytes("[1]"), Durability::kRecordAndHead));
    ASSERT_TRUE(journal.Close());
  }
  EXPECT_EQ(Conclude(Look(id)).kind, RunKind::kDamaged);
}

}  // namespace
}  // namespace maco

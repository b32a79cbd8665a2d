// Journals by name: what is listed, what is a stranger, what a text names, which key is used.
// Contract under test: libcommon/state/journals.h.
#include "libcommon/state/journals.h"

#include "tests/unit/state/run_fixture.h"

namespace maco {
namespace {

TEST_F(RunFixture, EverythingIsListedOrAStranger) {
  const std::string run = MakeRun({"run_planned"});
  WriteFile(RunPath("stray"), "");
  ASSERT_TRUE(OpenOrCreate(state(), Journal::OfSteps("rel-1.2")));
  ASSERT_TRUE(OpenOrCreate(state(), Journal::OfAudit(0)));
  WriteFile(scratch_.Path("maco/steps/.hidden.log"), "");
  WriteFile(scratch_.Path("maco/steps/no-log"), "");
  WriteFile(scratch_.Path("maco/steps/.tmp-1"), "");
  WriteFile(scratch_.Path("maco/audit/01.log"), "");
  const auto inventory = ListJournals(state());
  ASSERT_TRUE(inventory);
  std::vector<std::string> names;
  for (const auto& journal : inventory->journals) {
    names.push_back(journal.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"audit/0", "run/" + run, "steps/rel-1.2"}));
  EXPECT_EQ(inventory->strangers, (std::vector<std::string>{"audit/01.log", "runs/stray",
                                                            "steps/.hidden.log", "steps/no-log"}));
}

TEST(FindJournal, ByFullNameIdOrPrefix) {
  JournalList inventory;
  const std::string a(32, 'a');
  const std::string b = "aaaab" + std::string(27, '0');
  inventory.journals = {Journal::OfAudit(0), Journal::OfRun(a), Journal::OfRun(b),
                        Journal::OfSteps("aaaa")};
  EXPECT_EQ(FindJournal(inventory, a)->name, "run/" + a);
  EXPECT_EQ(FindJournal(inventory, "run/" + a)->name, "run/" + a);
  EXPECT_EQ(FindJournal(inventory, "aaaab")->name, "run/" + b);
  EXPECT_EQ(FindJournal(inventory, "steps/aaaa")->name, "steps/aaaa");
  EXPECT_EQ(FindJournal(inventory, "aaaa").error().code, Code::kInvalid) << "two begin with it";
  EXPECT_EQ(FindJournal(inventory, "aaa").error().code, Code::kNotFound) << "too short";
  EXPECT_EQ(FindJournal(inventory, "").error().code, Code::kNotFound);
  EXPECT_EQ(FindJournal(inventory, "steps").error().code, Code::kNotFound);
}

TEST(PlainName, Rules) {
  for (const char* good : {"a", "rel-1.2", "A_b", "0"}) {
    EXPECT_TRUE(IsPlainName(good)) << good;
  }
  for (const char* bad : {"", ".", "..", ".a", "-a", "a/b", "a b", "a\n", "\xff"}) {
    EXPECT_FALSE(IsPlainName(bad)) << bad;
  }
  EXPECT_TRUE(IsPlainName(std::string(64, 'x')));
  EXPECT_FALSE(IsPlainName(std::string(65, 'x')));
}

TEST_F(RunFixture, AJournalOfAPastEpochIsReadAndNotWritten) {
  const std::string id = MakeRun({"run_planned", "command_started", "command_completed"});
  const Directory common = *Directory::OpenPath(scratch_.path());
  const auto root =
      StateRoot::Rekey(common, [](const StateRoot&, const EpochKey&) { return Result<void>(); });
  ASSERT_TRUE(root);
  EXPECT_EQ(Conclude(LookAtRun(*root, id)).kind, RunKind::kIdle) << "evidence verifies too";
  EXPECT_EQ(OpenForAppend(*root, Journal::OfRun(id)).error().code, Code::kRefused);
  EXPECT_TRUE(OpenForReading(*root, Journal::OfRun(id)));
}

TEST_F(RunFixture, AHeaderThatClaimsAnotherEpochDoesNotVerify) {
  const std::string id = MakeRun({"run_planned"});
  const Directory common = *Directory::OpenPath(scratch_.path());
  const auto root =
      StateRoot::Rekey(common, [](const StateRoot&, const EpochKey&) { return Result<void>(); });
  ASSERT_TRUE(root);
  std::string bytes = *ReadPath(JournalPath(id), 1U << 24U);
  bytes[4060] = 1;  // the epoch, docs/formats/log.md
  WriteFile(JournalPath(id), bytes);
  EXPECT_EQ(OpenForReading(*root, Journal::OfRun(id)).error().code, Code::kCorrupt);
  bytes[4060] = 7;
  WriteFile(JournalPath(id), bytes);
  EXPECT_EQ(OpenForReading(*root, Journal::OfRun(id)).error().code, Code::kCorrupt);
}

}  // namespace
}  // namespace maco

// Decisions about git, our programs, the current repository and its maco state.
// Tests git-maco/doctor/decide_repository.cc.
#include "tests/unit/git-maco/doctor_facts.h"

namespace maco::doctor {
namespace {

TEST(DecideTools, GitAndItsVersion) {
  Facts facts = GoodFacts();
  facts.tools.git_version = "git version 2.30.2";
  EXPECT_EQ(Missing(facts), "git-version");
  facts.tools.git_error = MakeError(Code::kUnsupported, "git was not found");
  facts.repository.find_error = facts.tools.git_error;
  EXPECT_EQ(Missing(facts), "git-version") << "one cause is one miss";
  EXPECT_TRUE(GitIsAtLeast("git version 2.39.5", 2, 39));
  EXPECT_TRUE(GitIsAtLeast("git version 3.0.0-rc1", 2, 39));
  EXPECT_TRUE(GitIsAtLeast("git version 2.43.0 (Apple Git-150)", 2, 31));
  EXPECT_FALSE(GitIsAtLeast("git version 2.9.5", 2, 31));
  EXPECT_FALSE(GitIsAtLeast("git version 2", 2, 31));
  EXPECT_FALSE(GitIsAtLeast("something else", 2, 31));
}

TEST(DecideTools, OurOwnPrograms) {
  Facts facts = GoodFacts();
  facts.tools.guardian_errno = ENOENT;
  EXPECT_EQ(Missing(facts), "maco-run");
  EXPECT_TRUE(Contains(Find(facts, "maco-run").source, "/usr/libexec/git-maco/maco-guardian"));
}

TEST(DecideRepository, OutsideOfOneOnlyTheHostIsLookedAt) {
  Facts facts = GoodFacts();
  facts.repository = {};
  facts.repository.find_error = MakeError(Code::kNotFound, "not a git repository");
  EXPECT_EQ(Missing(facts), "");
  EXPECT_EQ(Find(facts, "state").state, State::kNote);
  EXPECT_EQ(Find(facts, "space").state, State::kNote);
}

TEST(DecideRepository, OneThatGitRefusesIsMissing) {
  Facts facts = GoodFacts();
  facts.repository.find_error =
      MakeError(Code::kPermission, "detected dubious ownership", "add it to safe.directory");
  EXPECT_EQ(Missing(facts), "repository");
  EXPECT_EQ(Find(facts, "repository").fix, "add it to safe.directory");
}

TEST(DecideRepository, StateThatIsNotThereDamagedOrMoved) {
  Facts facts = GoodFacts();
  facts.repository.state_error =
      MakeError(Code::kNotFound, "this repository has no maco state", "run 'git maco init'");
  EXPECT_EQ(Missing(facts), "state");
  EXPECT_EQ(Find(facts, "state").scope, Scope::kRepository);
  EXPECT_TRUE(Contains(Find(facts, "state").fix, "git maco init"));
  facts.repository.state_error = MakeError(Code::kCorrupt, "'maco/key' is missing", "restore it");
  EXPECT_EQ(Missing(facts), "state");
  EXPECT_TRUE(Contains(Find(facts, "state").observed, "maco/key"));
  facts = GoodFacts();
  facts.repository.moved = true;
  facts.repository.recorded_path = "/elsewhere/.git";
  EXPECT_EQ(Missing(facts), "state");
  EXPECT_TRUE(Contains(Find(facts, "state").observed, "/elsewhere/.git"));
  EXPECT_TRUE(Contains(Find(facts, "state").fix, "git maco journal rebind"));
}

TEST(DecideRepository, RoomForARun) {
  Facts facts = GoodFacts();
  facts.repository.free_bytes = 100U << 20U;
  EXPECT_EQ(Missing(facts), "");
  EXPECT_EQ(Find(facts, "space").state, State::kNote);
  facts.repository.free_bytes = 1U << 20U;
  EXPECT_EQ(Missing(facts), "space");
  facts = GoodFacts();
  facts.repository.free_inodes = 0;
  EXPECT_EQ(Missing(facts), "space");
  facts.repository.counts_inodes = false;  // as btrfs has it
  EXPECT_EQ(Missing(facts), "");
  facts.repository.space_errno = EIO;
  EXPECT_EQ(Missing(facts), "");
}

}  // namespace
}  // namespace maco::doctor

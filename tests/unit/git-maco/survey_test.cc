// Counting all runs of a repository, and how that is printed.
// Tests git-maco/status/survey.cc, status.cc.
#include "git-maco/status/survey.h"

#include <sys/stat.h>

#include "git-maco/status/status.h"
#include "tests/unit/state/run_fixture.h"

namespace maco::status {
namespace {

class SurveyTest : public RunFixture {
 protected:
  Survey Look() {
    auto survey = SurveyRuns(state(), "/r/.git/maco");
    EXPECT_TRUE(survey);
    return *std::move(survey);
  }
};

TEST_F(SurveyTest, NoRunsAtAll) {
  std::filesystem::remove(scratch_.Path("maco/runs"));
  const Survey survey = Look();
  EXPECT_TRUE(survey.quiet());
  EXPECT_EQ(SurveyText(survey),
            "repository  " + state().repository_id() + " in /r/.git/maco\nruns        0\n");
}

TEST_F(SurveyTest, OneBadRunDoesNotHideTheOthers) {
  MakeRun({"run_planned", "command_started", "command_completed"});
  MakeRun({"run_planned", "command_started", "command_completed"});
  MakeRun({"run_planned", "run_refused"});
  const std::string uncertain = MakeRun({"run_planned", "command_started"});
  const std::string bad = MakeRun({"run_planned"});
  WriteFile(JournalPath(bad), "no log");
  WriteFile(RunPath("stray\n\x1b"), "");
  const Survey survey = Look();
  EXPECT_EQ(survey.total, 6U);
  EXPECT_FALSE(survey.quiet());
  EXPECT_EQ(survey.by_last_event.at("command_completed"), 2U);
  EXPECT_EQ(survey.by_last_event.at("run_refused"), 1U);
  ASSERT_EQ(survey.uncertain.size(), 1U);
  EXPECT_EQ(survey.uncertain[0].sight.id, uncertain);
  ASSERT_EQ(survey.damaged.size(), 2U);
  const std::string text = SurveyText(survey);
  EXPECT_NE(text.find("runs        6: 1 started, 2 completed, 1 refused, 2 damaged\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("UNCERTAIN   " + uncertain +
                      ": started, with no end on record; it may have "
                      "run in part; started 2025-11-29T18:13:20Z; command: make all\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("DAMAGED     " + bad), std::string::npos);
  EXPECT_NE(text.find("DAMAGED     stray\\x0a\\x1b"), std::string::npos) << text;
}

TEST_F(SurveyTest, JsonHasAllMembers) {
  const std::string uncertain = MakeRun({"run_planned", "command_started"});
  const std::string held = NewId();
  const LogWriter journal = Open(held, {"run_planned"});
  const auto text = SurveyJson(Look());
  ASSERT_TRUE(text);
  const Json document = *ParseJson(*text, kMaxJsonBytes);
  EXPECT_EQ(document["schema"], "maco.status/1");
  EXPECT_EQ(document["repository_id"], state().repository_id());
  EXPECT_EQ(document["moved"], false);
  EXPECT_EQ(document["runs"]["total"], 2);
  EXPECT_EQ(document["runs"]["running"], 1);
  EXPECT_EQ(document["runs"]["by_last_event"]["command_completed"], 0);
  EXPECT_EQ(document["runs"]["by_last_event"]["command_started"], 1);
  EXPECT_EQ(document["runs"]["uncertain"][0]["run"], uncertain);
  EXPECT_EQ(document["runs"]["uncertain"][0]["command"], Json::array({"make", "all"}));
  EXPECT_EQ(document["runs"]["damaged"], Json::array());
}

TEST_F(SurveyTest, PathsThatAreNotUtf8HaveATwin) {
  Survey survey = Look();
  survey.state_root = "/r\xff/.git/maco";
  const Json document = *ParseJson(*SurveyJson(survey), kMaxJsonBytes);
  EXPECT_EQ(document["state_root"], "/r\\xff/.git/maco");
  EXPECT_EQ(document["state_root_base64"], ToBase64(survey.state_root));
  EXPECT_FALSE(document.contains("recorded_path_base64"));
}

TEST_F(SurveyTest, AMovedRepositoryNeedsAttention) {
  Survey survey = Look();
  survey.moved = true;
  EXPECT_FALSE(survey.quiet());
  EXPECT_NE(SurveyText(survey).find("git maco journal rebind"), std::string::npos);
}

TEST_F(SurveyTest, RunsThatOthersCanReadAreRefused) {
  chmod(scratch_.Path("maco/runs").c_str(), 0755);
  const auto survey = SurveyRuns(state(), "/r");
  ASSERT_FALSE(survey);
  EXPECT_EQ(survey.error().code, Code::kPermission);
}

TEST_F(SurveyTest, ALongCommandIsCutForPeople) {
  RunSight sight;
  sight.id = NewId();
  sight.last_event = "command_started";
  sight.command = Json::array({"echo", std::string(300, 'x') + "\n", {{"base64", "/w=="}}});
  Survey survey;
  Count(sight, survey);
  const std::string text = SurveyText(survey);
  EXPECT_NE(text.find("command: echo xxx"), std::string::npos);
  EXPECT_NE(text.find("xxx...\n"), std::string::npos);
}

TEST_F(SurveyTest, LanesSayWhatToTypeNext) {
  auto registry = LaneRegistry::Open(state());
  ASSERT_TRUE(registry);
  Lane lane;
  lane.id = std::string(32, '1');
  lane.state = "creating";
  lane.path = "/nowhere/at/all";
  StoreChange change;
  change.put[LaneKey("cut")] = Encode(lane);
  lane.state = "ready";
  change.put[LaneKey("gone")] = Encode(lane);
  lane.path = scratch_.Path(".");
  struct stat st {};
  ASSERT_EQ(stat(lane.path.c_str(), &st), 0);
  lane.device = st.st_dev;
  lane.inode = st.st_ino;
  change.put[LaneKey("good")] = Encode(lane);
  ASSERT_TRUE(registry->Commit(change));
  ASSERT_TRUE(registry->Close());
  Survey survey = Look();
  SurveyLanes(state(), survey);
  EXPECT_FALSE(survey.quiet());
  const std::string text = SurveyText(survey);
  EXPECT_NE(text.find("LANE        cut: creating, its creation was cut short, or is going on\n"
                      "              next: git maco worktree repair cut\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("LANE        gone: open, its directory is gone\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("lane        good: open\n"
                      "              next: git maco worktree capture good\n"),
            std::string::npos)
      << text;
  const std::string lines = SurveyPorcelain(survey);
  EXPECT_NE(lines.find("lane cut creating trouble\nlane gone open trouble\nlane good open ok\n"),
            std::string::npos)
      << lines;
}

TEST(StatusOptions, AreChecked) {
  EXPECT_TRUE(ParseOptions({"--json"})->json);
  EXPECT_TRUE(ParseOptions({"-h"})->help);
  const auto wrong = ParseOptions({"x"});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, Code::kUsage);
}

}  // namespace
}  // namespace maco::status

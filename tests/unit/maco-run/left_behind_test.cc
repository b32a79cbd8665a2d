// What a run has left of repositories: recorded, told, and judged where it is a key.
// Contract under test: maco-run/record/left_behind.h. Requirements ADM-01, JRN-10.
#include "maco-run/record/left_behind.h"

#include <gtest/gtest.h>

namespace maco::run {
namespace {

RootScan Scan(std::vector<std::string> entries, std::vector<std::string> directories,
              std::vector<std::string> state_roots) {
  RootScan scan;
  scan.git_entries = std::move(entries);
  scan.git_directories = std::move(directories);
  scan.seen.state_roots = std::move(state_roots);
  return scan;
}

TEST(LeftBehind, NothingNewIsNothingToSay) {
  const RootScan before = Scan({"/w/.git"}, {"/w/bare"}, {"/w/.git/maco"});
  const Result<LeftBehind> left = CompareScans(before, Scan({"/w/.git"}, {}, {"/w/.git/maco"}));
  EXPECT_EQ(DescribeNewRepositories(left), (Json{{"looked_at", true},
                                                 {"paths", Json::array()},
                                                 {"state_roots", Json::array()},
                                                 {"cut", false}}));
  EXPECT_EQ(CountNewStateRoots(left), 0U);
  EXPECT_FALSE(NewRepositoriesNote(left).has_value());
}

TEST(LeftBehind, NewRepositoriesAreNamed) {
  const RootScan before = Scan({"/w/.git"}, {}, {"/w/.git/maco"});
  const Result<LeftBehind> left = CompareScans(
      before,
      Scan({"/w/.git", "/w/sub\n/.git"}, {"/w/gd"}, {"/w/.git/maco", "/w/sub\n/.git/maco"}));
  const Json described = DescribeNewRepositories(left);
  EXPECT_EQ(described["paths"], (Json{"/w/sub\\x0a/.git", "/w/gd"}));
  EXPECT_EQ(described["state_roots"], (Json{"/w/sub\\x0a/.git/maco"}));
  EXPECT_EQ(CountNewStateRoots(left), 1U);
  EXPECT_EQ(
      NewRepositoriesNote(left),
      "the run left a Git repository in '/w/sub\\x0a' and in 1 other places: git run there, or "
      "in a repository around it, obeys its configuration");
}

TEST(LeftBehind, TheListIsBounded) {
  std::vector<std::string> many;
  for (int i = 100; i < 300; ++i) {
    many.push_back("/w/" + std::to_string(i) + "/.git");
  }
  const Result<LeftBehind> left = CompareScans({}, Scan(many, {}, {}));
  const Json described = DescribeNewRepositories(left);
  EXPECT_EQ(described["paths"].size(), 64U);
  EXPECT_EQ(described["cut"], true);
}

TEST(LeftBehind, AScanThatFailedIsToldNotPassedOver) {
  const Result<LeftBehind> left = Fail(Code::kPermission, "cannot scan '/w/closed'");
  EXPECT_EQ(DescribeNewRepositories(left),
            (Json{{"looked_at", false}, {"why", "cannot scan '/w/closed'"}}));
  EXPECT_EQ(CountNewStateRoots(left), "not looked at");
  EXPECT_TRUE(NewRepositoriesNote(left).has_value());
}

}  // namespace
}  // namespace maco::run

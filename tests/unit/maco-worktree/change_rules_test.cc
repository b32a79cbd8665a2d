// Links that lead out, and paths that deserve a second look (WT-03, C38).
#include "maco-worktree/change_rules.h"

#include <gtest/gtest.h>

namespace maco::worktree {
namespace {

TEST(LeadsOut, AbsoluteAndEmptyTargetsDo) {
  EXPECT_TRUE(LeadsOut("link", "/etc/passwd"));
  EXPECT_TRUE(LeadsOut("link", "/"));
  EXPECT_TRUE(LeadsOut("link", ""));
}

TEST(LeadsOut, CountsFromTheDirectoryOfTheLink) {
  EXPECT_FALSE(LeadsOut("link", "src/a"));
  EXPECT_TRUE(LeadsOut("link", ".."));
  EXPECT_TRUE(LeadsOut("link", "../x"));
  EXPECT_FALSE(LeadsOut("docs/link", "../src"));
  EXPECT_FALSE(LeadsOut("docs/link", ".."));
  EXPECT_TRUE(LeadsOut("docs/link", "../.."));
  EXPECT_FALSE(LeadsOut("a/b/c/link", "../../../x"));
  EXPECT_TRUE(LeadsOut("a/b/c/link", "../../../../x"));
  EXPECT_FALSE(LeadsOut("docs/link", "././..//src"));
}

TEST(LeadsOut, ANameBeforeDotsMayBeALinkItself) {
  EXPECT_TRUE(LeadsOut("link", "docs/../src/a"));
  EXPECT_TRUE(LeadsOut("docs/link", "../docs/../src"));
}

TEST(LeadsOut, IntoTheGitDirectory) {
  EXPECT_TRUE(LeadsOut("link", ".git"));
  EXPECT_TRUE(LeadsOut("link", ".GIT/config"));
  EXPECT_TRUE(LeadsOut("docs/link", "../.git/hooks"));
  EXPECT_FALSE(LeadsOut("link", ".github"));
}

Change Changed(const std::string& path) {
  Change change;
  change.path = path;
  change.status = "M";
  change.old_mode = change.new_mode = "100644";
  return change;
}

TEST(RiskOf, GoesByTheName) {
  for (const char* path :
       {".gitattributes", "deep/down/.gitattributes", ".GitAttributes", ".gitignore",
        ".github/workflows/x.yml", "a/.GITHUB/x", ".husky/pre-commit", "package-lock.json",
        "sub/Cargo.lock", "Jenkinsfile", ".envrc", ".vscode/tasks.json"}) {
    EXPECT_NE(RiskOf(Changed(path)), "") << path;
  }
  for (const char* path : {"src/a", "gitattributes", ".gitattributes/x", ".github", "x.lock"}) {
    EXPECT_EQ(RiskOf(Changed(path)), "") << path;
  }
}

TEST(RiskOf, GoesByModeAndContent) {
  Change link = Changed("a");
  link.new_mode = "120000";
  EXPECT_EQ(RiskOf(link), "symbolic link");
  Change program = Changed("a");
  program.new_mode = "100755";
  EXPECT_EQ(RiskOf(program), "made executable");
  program.old_mode = "100755";
  EXPECT_EQ(RiskOf(program), "");
  Change binary = Changed("a");
  binary.binary = true;
  EXPECT_EQ(RiskOf(binary), "binary");
  binary.status = "D";
  EXPECT_EQ(RiskOf(binary), "");
}

}  // namespace
}  // namespace maco::worktree

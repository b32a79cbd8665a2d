// Settings as the real git gives them: scopes, odd values, damaged files.
// Contract under test: libcommon/git/config.h.
#include "libcommon/git/config.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/scratch_dir.h"

namespace maco {
namespace {

namespace fs = std::filesystem;

class ConfigTest : public testing::Test {
 protected:
  ConfigTest() {
    fs::create_directories(scratch_.Path("repo/.git/objects"));
    fs::create_directories(scratch_.Path("repo/.git/refs"));
    Write("repo/.git/HEAD", "ref: refs/heads/main\n");
    setenv("HOME", scratch_.Path("").c_str(), 1);
    setenv("GIT_CONFIG_SYSTEM", scratch_.Path("system").c_str(), 1);
    for (const char* name : {"XDG_CONFIG_HOME", "GIT_DIR", "GIT_CONFIG_PARAMETERS",
                             "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_COUNT"}) {
      unsetenv(name);
    }
  }
  ~ConfigTest() override {
    unsetenv("GIT_CONFIG_SYSTEM");
    unsetenv("GIT_CONFIG_PARAMETERS");
  }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(scratch_.Path(name)) << text;
  }

  Result<std::vector<ConfigValue>> Read() { return ReadConfig("maco.run.", scratch_.Path("repo")); }

  ScratchDir scratch_;
};

TEST_F(ConfigTest, NothingIsNoError) {
  const auto values = Read();
  ASSERT_TRUE(values.has_value()) << values.error().message;
  EXPECT_TRUE(values->empty());
}

TEST_F(ConfigTest, EveryScopeIsNamed) {
  Write("system", "[maco \"run\"]\n tasks = 1\n");
  Write(".gitconfig", "[maco \"run\"]\n tasks = 2\n outputLimit = 3k\n");
  Write("repo/.git/config",
        "[core]\n repositoryformatversion = 0\n[maco \"run\"]\n tasks = 4\n"
        "[maco \"runner\"]\n tasks = 9\n[maco]\n run = 9\n");
  setenv("GIT_CONFIG_PARAMETERS", "'maco.run.tasks'='5'", 1);
  const auto values = Read();
  ASSERT_TRUE(values.has_value()) << values.error().message;
  std::string shown;
  for (const auto& value : *values) {
    shown += value.scope + " " + value.key + "=" + value.value +
             (value.IsProtected() ? " protected\n" : "\n");
  }
  EXPECT_EQ(shown,
            "system maco.run.tasks=1 protected\n"
            "global maco.run.tasks=2 protected\n"
            "global maco.run.outputlimit=3k protected\n"
            "local maco.run.tasks=4\n"
            "command maco.run.tasks=5 protected\n");
}

TEST_F(ConfigTest, OddValuesArriveWhole) {
  Write("repo/.git/config",
        "[core]\n repositoryformatversion = 0\n[maco \"run\"]\n"
        " tasks\n memory = \"a\\nb = c\"\n tmp =\n");
  const auto values = Read();
  ASSERT_TRUE(values.has_value()) << values.error().message;
  ASSERT_EQ(values->size(), 3U);
  EXPECT_EQ((*values)[0].value, "");
  EXPECT_EQ((*values)[1].value, "a\nb = c");
  EXPECT_EQ((*values)[2].value, "");
}

TEST_F(ConfigTest, ADamagedFileIsAnErrorThatNamesIt) {
  Write("repo/.git/config", "[core\n");
  const auto values = Read();
  ASSERT_FALSE(values.has_value());
  EXPECT_EQ(values.error().code, Code::kInvalid);
  EXPECT_NE(values.error().message.find("config"), std::string::npos);
}

TEST_F(ConfigTest, AllValuesComeWithTheirFiles) {
  Write(".gitconfig", "[maco \"run\"]\n tasks = 2\n");
  Write("repo/.git/config",
        "[core]\n repositoryformatversion = 0\n hooksPath = hooks\n"
        "[include]\n path = ../shared\n");
  Write("repo/shared", "[alias]\n ok\n");
  setenv("GIT_CONFIG_PARAMETERS", "'maco.run.tasks'='5'", 1);
  const auto values = ReadAllConfig(scratch_.Path("repo"));
  ASSERT_TRUE(values.has_value()) << values.error().message;
  std::string shown;
  for (const auto& value : *values) {
    shown += value.scope + " " + value.key + "=" + value.value + " in '" + value.file + "'\n";
  }
  EXPECT_EQ(shown, "global maco.run.tasks=2 in '" + scratch_.Path("") +
                       "/.gitconfig'\n"
                       "local core.repositoryformatversion=0 in '.git/config'\n"
                       "local core.hookspath=hooks in '.git/config'\n"
                       "local include.path=../shared in '.git/config'\n"
                       "local alias.ok= in '.git/../shared'\n"
                       "command maco.run.tasks=5 in ''\n");
}

}  // namespace
}  // namespace maco

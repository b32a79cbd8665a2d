// The target's environment: its fixed part, what a caller may add, and what never gets in (RUN-09).
// Contract under test: maco-run/spec/environment.h.
#include "maco-run/spec/environment.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "libcommon/auth/mac.h"
#include "libcommon/base/byte_codec.h"
#include "libcommon/base/text.h"

namespace maco::run {
namespace {

TEST(Environment, IsTheFixedSetAndNoMore) {
  const auto environment = BuildEnvironment({}, "0123", false);
  ASSERT_TRUE(environment.has_value());
  const std::vector<std::string> expected{"HOME=/tmp/home",
                                          "LANG=C.UTF-8",
                                          "LC_ALL=C.UTF-8",
                                          "MACO_RUN_ID=0123",
                                          std::string("PATH=") + kSearchPath,
                                          "SHELL=/bin/sh",
                                          "TERM=dumb",
                                          "TMPDIR=/tmp"};
  EXPECT_EQ(*environment, expected);
}

TEST(Environment, NamesTheResultOnlyIfThereIsOne) {
  const auto environment = BuildEnvironment({}, "0123", true);
  ASSERT_TRUE(environment.has_value());
  EXPECT_EQ(std::ranges::count(*environment, "MACO_RESULT=/run/maco/result"), 1);
}

TEST(Environment, TakesWhatTheCallerAddsByteForByte) {
  const auto environment = BuildEnvironment(
      {"A=1", "B=", "C=x=y", "D=a\nb \xFF", "A=2", "LANG=de_DE.UTF-8"}, "0", false);
  ASSERT_TRUE(environment.has_value());
  for (const std::string expected : {"A=2", "B=", "C=x=y", "D=a\nb \xFF", "LANG=de_DE.UTF-8"}) {
    EXPECT_EQ(std::ranges::count(*environment, expected), 1) << expected;
  }
  EXPECT_EQ(std::ranges::count(*environment, "A=1"), 0);
}

TEST(Environment, RefusesLoadersAndControlSurfaces) {
  for (const char* name :
       {"LD_PRELOAD", "LD_LIBRARY_PATH", "GIT_DIR", "GIT_CONFIG_COUNT", "DBUS_SESSION_BUS_ADDRESS",
        "MACO_RESULT", "MACO_RUN_ID", "SYSTEMD_LOG_LEVEL", "XDG_RUNTIME_DIR", "NOTIFY_SOCKET",
        "SSH_AUTH_SOCK", "BASH_ENV", "ENV", "PATH", "HOME", "ld_preload", "Git_Dir"}) {
    const auto checked = CheckVariableName(name);
    ASSERT_FALSE(checked.has_value()) << name;
    EXPECT_EQ(checked.error().code, Code::kInvalid);
    EXPECT_NE(checked.error().message.find(name), std::string::npos);
    EXPECT_FALSE(BuildEnvironment({std::string(name) + "=x"}, "0", false).has_value()) << name;
  }
}

TEST(Environment, RefusesNamesThatLookLikeCredentials) {
  for (const char* name :
       {"KEY", "OPENAI_API_KEY", "AWS_ACCESS_KEY_ID", "GITHUB_TOKEN", "MY_SECRET", "DB_PASSWORD",
        "CREDENTIAL", "X_CREDENTIALS_FILE", "COOKIE_JAR", "NPM_AUTH", "PRIVATE_X", "api_token"}) {
    const auto checked = CheckVariableName(name);
    ASSERT_FALSE(checked.has_value()) << name;
    EXPECT_NE(checked.error().message.find("credential"), std::string::npos) << name;
    EXPECT_FALSE(checked.error().remedy.empty());
  }
}

TEST(Environment, LooksAtComponentsOnly) {
  for (const char* name : {"KEYBOARD", "MONKEY", "TOKENIZER", "AUTHOR", "GITHUB", "LDFLAGS",
                           "HOMEBREW", "MACOSX_DEPLOYMENT_TARGET", "_", "A1", "a"}) {
    EXPECT_TRUE(CheckVariableName(name).has_value()) << name;
  }
}

TEST(Environment, RefusesWhatIsNoName) {
  for (const std::string& name :
       {std::string(), std::string("1A"), std::string("A-B"), std::string("A B"),
        std::string("A.B"), std::string("\xC3\xA4"), std::string("A\nB"), std::string(257, 'A')}) {
    EXPECT_FALSE(CheckVariableName(name).has_value()) << name;
  }
  EXPECT_TRUE(CheckVariableName(std::string(256, 'A')).has_value());
  for (const char* entry : {"NOEQUALS", "", "=x"}) {
    EXPECT_EQ(BuildEnvironment({entry}, "0", false).error().code, Code::kInvalid) << entry;
  }
}

TEST(Environment, HasALimit) {
  std::vector<std::string> added;
  for (int i = 0; i < 256; ++i) {
    added.push_back("V" + std::to_string(i) + "=x");
  }
  EXPECT_TRUE(BuildEnvironment(added, "0", false).has_value());
  added.emplace_back("W=x");
  EXPECT_EQ(BuildEnvironment(added, "0", false).error().code, Code::kLimit);
}

TEST(Environment, EvidenceHasDigestsAndNoValues) {
  const Json described = DescribeVariables({"A=hello", "B=", "A=world"});
  EXPECT_EQ(described,
            (Json{{"A", ToHex(Sha256(AsBytes("world")))}, {"B", ToHex(Sha256(AsBytes("")))}}));
  EXPECT_EQ(described.dump().find("world"), std::string::npos);
  EXPECT_EQ(DescribeVariables({}), Json::object());
}

}  // namespace
}  // namespace maco::run

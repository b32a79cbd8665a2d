// Limits from configuration: who may raise, who may only lower, and what is said of the rest.
// Contract under test: maco-run/spec/settings.h. Requirement RUN-10.
#include "maco-run/spec/settings.h"

#include <gtest/gtest.h>

namespace maco::run {
namespace {

using Settings = std::vector<ConfigValue>;

Limits Chosen(const Settings& settings, const LimitFlags& flags = {}) {
  const auto chosen = ChooseLimits(settings, flags);
  EXPECT_TRUE(chosen.has_value()) << chosen.error().message;
  return chosen ? chosen->limits : Limits{};
}

TEST(Settings, NothingSetGivesTheDefaults) {
  EXPECT_EQ(Chosen({}).tasks, Limits{}.tasks);
  EXPECT_EQ(Chosen({}).memory_bytes, Limits{}.memory_bytes);
}

TEST(Settings, EveryLimitHasASetting) {
  for (const auto& info : AllLimits()) {
    const std::string key = std::string("maco.run.") + info.setting;
    const auto chosen = Chosen({{key, std::to_string(info.low), "global"}});
    EXPECT_EQ(chosen.*info.field, info.low) << key;
    for (const char c : std::string(info.setting)) {
      EXPECT_TRUE(c >= 'a' && c <= 'z') << key;  // as git prints variables
    }
  }
}

TEST(Settings, ProtectedScopesWidenAndTheLastOneCounts) {
  EXPECT_EQ(Chosen({{"maco.run.memory", "8g", "system"}}).memory_bytes, 8ULL << 30U);
  EXPECT_EQ(Chosen({{"maco.run.memory", "8g", "system"}, {"maco.run.memory", "6g", "global"}})
                .memory_bytes,
            6ULL << 30U);
  EXPECT_EQ(
      Chosen({{"maco.run.tasks", "10", "global"}, {"maco.run.tasks", "9000", "command"}}).tasks,
      9000U);
}

TEST(Settings, ARepositoryOnlyLowers) {
  for (const char* scope : {"local", "worktree"}) {
    EXPECT_EQ(Chosen({{"maco.run.tasks", "100", scope}}).tasks, 100U);
    const auto raised = ChooseLimits({{"maco.run.tasks", "30000", scope}}, {});
    ASSERT_TRUE(raised.has_value());
    EXPECT_EQ(raised->limits.tasks, Limits{}.tasks);
    ASSERT_EQ(raised->notes.size(), 1U);
    EXPECT_NE(raised->notes[0].find("maco.run.tasks"), std::string::npos);
    EXPECT_NE(raised->notes[0].find("--tasks"), std::string::npos);
    // Whatever the order in which git prints them.
    EXPECT_EQ(
        Chosen({{"maco.run.tasks", "30000", scope}, {"maco.run.tasks", "64", "command"}}).tasks,
        64U);
  }
}

TEST(Settings, TheCommandLineIsTheCallersOwnWord) {
  EXPECT_EQ(Chosen({{"maco.run.tasks", "100", "local"}}, {{"tasks", 2000}}).tasks, 2000U);
}

TEST(Settings, AValueThatIsNoneIsRefusedWithItsScope) {
  for (const char* value : {"", "x", "-1", "0", "1e3", "99999999999999999999"}) {
    for (const char* scope : {"global", "local"}) {
      const auto chosen = ChooseLimits({{"maco.run.tasks", value, scope}}, {});
      ASSERT_FALSE(chosen.has_value()) << value;
      EXPECT_NE(chosen.error().message.find(std::string("maco.run.tasks (") + scope),
                std::string::npos);
    }
  }
}

TEST(Settings, AKeyThatIsNoneIsMentioned) {
  const auto chosen = ChooseLimits({{"maco.run.memroy", "1g", "global"}}, {});
  ASSERT_TRUE(chosen.has_value());
  ASSERT_EQ(chosen->notes.size(), 1U);
  EXPECT_NE(chosen->notes[0].find("maco.run.memroy"), std::string::npos);
}

}  // namespace
}  // namespace maco::run

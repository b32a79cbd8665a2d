// Profiles: their names, and that every probe has one expected answer.
// Contract under test: maco-run/policy/profile.h.
#include "maco-run/policy/profile.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <set>

#include "maco-run/guardian/probes.h"

namespace maco::run {
namespace {

constexpr Profile kAll[] = {Profile::kOfflineRead, Profile::kOfflineWrite, Profile::kDiagnostic};

TEST(Profile, NamesRoundTrip) {
  std::set<std::string_view> names;
  for (const Profile profile : kAll) {
    EXPECT_EQ(ParseProfile(ProfileName(profile)), profile);
    names.insert(ProfileName(profile));
  }
  EXPECT_EQ(names, (std::set<std::string_view>{"offline-read", "offline-write", "diagnostic"}));
  for (const char* name : {"", "offline", "OFFLINE-READ", "offline-read\n", "provider"}) {
    EXPECT_FALSE(ParseProfile(name).has_value()) << name;
  }
}

TEST(Profile, EveryProbeIsExpectedToBeDenied) {
  for (const Profile profile : kAll) {
    const auto expected = ExpectedProbes(profile);
    const auto names = AllProbes();
    EXPECT_EQ(expected.size(), names.size());
    for (const auto& name : names) {
      ASSERT_TRUE(expected.contains(name)) << name;
      // RUN-08 states the one exception.
      EXPECT_EQ(expected.at(name) == 0, name == "socketpair-stream") << name;
      EXPECT_TRUE(expected.at(name) == 0 || expected.at(name) == EPERM ||
                  expected.at(name) == EACCES || expected.at(name) == ENOSYS)
          << name;
    }
  }
}

TEST(Probes, HaveNamesOfTheirOwn) {
  const auto names = AllProbes();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  EXPECT_GE(names.size(), 60U);
  EXPECT_EQ(Probe("no such probe"), ENOSYS);
  EXPECT_EQ(Probe(""), ENOSYS);
}

}  // namespace
}  // namespace maco::run

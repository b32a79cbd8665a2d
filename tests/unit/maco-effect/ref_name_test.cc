// Names of refs: every rule of git-check-ref-format(1), before anything is on record.
// Contract under test: maco-effect/ref_name.h.
#include "maco-effect/ref_name.h"

#include <gtest/gtest.h>

namespace maco::effect {
namespace {

TEST(RefName, WhatGitTakes) {
  for (const char* name :
       {"refs/heads/x", "refs/x", "refs/heads/fx/one", "refs/heads/a.b", "refs/heads/-x",
        "refs/heads/@", "refs/heads/a@b", "refs/heads/a{b", "refs/heads/lock",
        "refs/heads/a.locked", "refs/heads/a.lockx/y", "refs/tags/v1.0", "refs/heads/\xc3\xa4"}) {
    EXPECT_TRUE(IsRefName(name)) << name;
  }
}

TEST(RefName, WhatGitDoesNotTake) {
  for (const char* name : {"",
                           "@",
                           "x",
                           "/",
                           "refs/heads/",
                           "/refs/heads/x",
                           "refs//heads/x",
                           "refs/heads/x/",
                           "refs/heads/.x",
                           "refs/.heads/x",
                           "refs/heads/x.lock",
                           "refs/heads/x.lock/y",
                           "refs/heads/.lock",
                           "refs/heads/a..b",
                           "refs/heads/..",
                           "refs/heads/x.",
                           "refs/heads/.",
                           "refs/heads/a@{b",
                           "refs/heads/@{",
                           "refs/heads/a b",
                           "refs/heads/a~b",
                           "refs/heads/a^b",
                           "refs/heads/a:b",
                           "refs/heads/a?b",
                           "refs/heads/a*b",
                           "refs/heads/a[b",
                           "refs/heads/a\\b",
                           "refs/heads/a\tb",
                           "refs/heads/a\nb",
                           "refs/heads/a\x01",
                           "refs/heads/a\x7f"}) {
    EXPECT_FALSE(IsRefName(name)) << name;
  }
  EXPECT_FALSE(IsRefName(std::string_view("refs/heads/a\0b", 14)));
}

TEST(FullRef, OfABranchOrOfAFullName) {
  EXPECT_EQ(FullRef("fx/one").value_or(""), "refs/heads/fx/one");
  EXPECT_EQ(FullRef("refs/tags/v1").value_or(""), "refs/tags/v1");
  EXPECT_EQ(FullRef("refsx").value_or(""), "refs/heads/refsx");
  for (const char* name : {"", "@", "/x", "x/", ".x", "x.", "x.lock", "a//b", "a..b", "a@{b", "a b",
                           "refs/", "refs/heads/", "\xff", "a\xc2\x85"}) {
    const auto ref = FullRef(name);
    ASSERT_FALSE(ref) << name;
    EXPECT_EQ(ref.error().code, Code::kUsage) << name;
  }
}

}  // namespace
}  // namespace maco::effect

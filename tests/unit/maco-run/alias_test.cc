// Paths that D-Bus cannot carry: their names inside and outside, and what stays refused.
// Contract under test: maco-run/spec/alias.h.
#include "maco-run/spec/alias.h"

#include <gtest/gtest.h>

#include "maco-run/spec/compose.h"
#include "maco-run/spec/run_spec.h"

namespace maco::run {
namespace {

RunSpec SpecWith(const std::vector<std::string>& roots) {
  RunSpec spec;
  spec.id = std::string(32, 'a');
  for (const auto& path : roots) {
    spec.roots.push_back({path, true, Directory(), {}, true});
    spec.binds.push_back({path, path, false, false});
  }
  ChooseAliases(spec);
  return spec;
}

TEST(Alias, PlainPathsStayAsTheyAre) {
  const RunSpec spec = SpecWith({"/srv/a b", "/srv/gr\xC3\xBC\xC3\x9F", "/srv/a:b%\\\"'"});
  EXPECT_TRUE(spec.aliases.empty());
  EXPECT_EQ(InsidePath(spec, "/srv/a b/c"), "/srv/a b/c");
  EXPECT_EQ(SourcePath(spec, "/srv/a b/c"), "/srv/a b/c");
  EXPECT_TRUE(CheckNames(spec).has_value());
}

TEST(Alias, ARootThatIsNotUtf8HasAnotherNameInside) {
  const RunSpec spec = SpecWith({"/srv/caf\xE9/repo"});
  ASSERT_EQ(spec.aliases.size(), 1U);
  EXPECT_EQ(InsidePath(spec, "/srv/caf\xE9/repo"), "/run/maco/root-0");
  EXPECT_EQ(InsidePath(spec, "/srv/caf\xE9/repo/.git"), "/run/maco/root-0/.git");
  EXPECT_EQ(InsidePath(spec, "/srv/caf\xE9/repository"), "/srv/caf\xE9/repository");
  EXPECT_TRUE(SourcePath(spec, "/srv/caf\xE9/repo/x").ends_with("/maco-run-" + spec.id + "/0/x"));
  EXPECT_TRUE(CheckNames(spec).has_value());
}

TEST(Alias, ARootInAnotherNeedsItsOwnOnlyForItsOwnName) {
  const RunSpec spec = SpecWith({"/x\xFF/a/b", "/x\xFF/a", "/x\xFF/a/\xFE"});
  ASSERT_EQ(spec.aliases.size(), 2U);
  EXPECT_EQ(InsidePath(spec, "/x\xFF/a/b"), "/run/maco/root-0/b");
  EXPECT_EQ(InsidePath(spec, "/x\xFF/a/\xFE/c"), "/run/maco/root-1/c");
  // Which then would not be writable where it lies.
  EXPECT_EQ(CheckNames(spec).error().code, Code::kRefused);
}

TEST(Alias, ControlBytesNeedOneToo) {
  EXPECT_EQ(InsidePath(SpecWith({"/srv/a\nb"}), "/srv/a\nb"), "/run/maco/root-0");
}

TEST(Alias, WhatLiesBelowAndMustBeNamedIsRefused) {
  RunSpec spec = SpecWith({"/srv/repo"});
  spec.read_only_inside.push_back({"/srv/repo/\xE9/.git", {}});
  const auto checked = CheckNames(spec);
  ASSERT_FALSE(checked.has_value());
  EXPECT_EQ(checked.error().code, Code::kRefused);
}

TEST(Alias, EvidenceNamesBoth) {
  const RunSpec spec = SpecWith({"/srv/caf\xE9"});
  const Json requested = ComposeRequested(spec);
  EXPECT_EQ(requested["roots"]["/run/maco/root-0"]["outside"], "/srv/caf\\xe9");
  EXPECT_EQ(ComposePlan(spec).roots.front(), "/run/maco/root-0");
}

}  // namespace
}  // namespace maco::run

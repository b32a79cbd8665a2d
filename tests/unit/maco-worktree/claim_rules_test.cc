// Which claims exclude which, whose a path is, and when a claim is over (WT-02).
#include "maco-worktree/claim_rules.h"

#include <gtest/gtest.h>

namespace maco::worktree {
namespace {

Claim MakeClaim(const std::string& id, const std::string& lane, std::vector<std::string> paths) {
  Claim claim;
  claim.id = id;
  claim.lane = lane;
  claim.lane_id = lane + "-id";
  claim.paths = std::move(paths);
  return claim;
}

LaneTable Table() {
  LaneTable table;
  table.claims["1"] = MakeClaim("1", "alpha", {"src", "docs/d"});
  table.claims["2"] = MakeClaim("2", "beta", {"src2"});
  table.claims["3"] = MakeClaim("3", "beta", {"tool"});
  return table;
}

TEST(FindConflict, IsWithOtherLanesOnly) {
  const LaneTable table = Table();
  EXPECT_FALSE(FindConflict(table, "alpha-id", {"src/a"}, Letters::kDiffer));
  const auto conflict = FindConflict(table, "beta-id", {"free", "src/a"}, Letters::kDiffer);
  ASSERT_TRUE(conflict.has_value());
  EXPECT_EQ(conflict->wanted, "src/a");
  EXPECT_EQ(conflict->claimed, "src");
  EXPECT_EQ(conflict->claim.lane, "alpha");
  EXPECT_TRUE(FindConflict(table, "beta-id", {"docs"}, Letters::kDiffer));
  EXPECT_TRUE(FindConflict(table, "beta-id", {"."}, Letters::kDiffer));
  EXPECT_FALSE(FindConflict(table, "beta-id", {"SRC"}, Letters::kDiffer));
  EXPECT_TRUE(FindConflict(table, "beta-id", {"SRC"}, Letters::kMatch));
  EXPECT_FALSE(FindConflict(table, "beta-id", {}, Letters::kDiffer));
}

TEST(FindConflict, IsWithALaneThatHadTheSameName) {
  const LaneTable table = Table();
  EXPECT_TRUE(FindConflict(table, "another-alpha-id", {"src"}, Letters::kDiffer));
}

TEST(OwnerOf, IsWhoeverCoversThePath) {
  const LaneTable table = Table();
  const auto owner = [&table](const char* path) {
    const Claim* claim = OwnerOf(table, path, Letters::kDiffer);
    return claim != nullptr ? claim->lane : "nobody";
  };
  EXPECT_EQ(owner("src/a"), "alpha");
  EXPECT_EQ(owner("docs/d"), "alpha");
  EXPECT_EQ(owner("src2/c"), "beta");
  EXPECT_EQ(owner("docs"), "nobody");
  EXPECT_EQ(owner("src22"), "nobody");
}

TEST(ScopeOf, IsAllThatALaneHas) {
  const LaneTable table = Table();
  EXPECT_EQ(ScopeOf(table, "beta-id"), (std::vector<std::string>{"src2", "tool"}));
  EXPECT_TRUE(ScopeOf(table, "gamma-id").empty());
}

TEST(IsOver, OnlyAfterItsTime) {
  Claim claim;
  claim.renewed_us = 100;
  EXPECT_FALSE(IsOver(claim, ~std::uint64_t{0}));  // it has no end
  claim.expires_us = 200;
  EXPECT_FALSE(IsOver(claim, 150));
  EXPECT_FALSE(IsOver(claim, 199));
  EXPECT_TRUE(IsOver(claim, 200));
}

TEST(IsOver, NotByAClockThatWentBack) {
  Claim claim;
  claim.renewed_us = 1000;
  claim.expires_us = 500;
  EXPECT_FALSE(IsOver(claim, 600));
  EXPECT_TRUE(IsOver(claim, 1000));
}

TEST(ConflictError, SaysWhoAndWhatToDo) {
  Conflict conflict{"src/a", "src", MakeClaim("1", "alpha", {"src"})};
  Error error = ConflictError(conflict, 100);
  EXPECT_EQ(error.code, Code::kBusy);
  EXPECT_NE(error.message.find("'src/a' is claimed: lane 'alpha' has 'src'"), std::string::npos);
  EXPECT_NE(error.remedy.find("release alpha"), std::string::npos);
  conflict.claim.expires_us = 50;
  error = ConflictError(conflict, 100);
  EXPECT_NE(error.message.find("over"), std::string::npos);
  EXPECT_NE(error.remedy.find("--take-over"), std::string::npos);
}

}  // namespace
}  // namespace maco::worktree

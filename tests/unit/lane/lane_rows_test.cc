// Rows of the store "lanes": both directions, and what does not decode.
#include "libcommon/lane/lane_rows.h"

#include <gtest/gtest.h>

namespace maco {
namespace {

Lane SomeLane() {
  Lane lane;
  lane.name = "alpha";
  lane.id = std::string(32, 'a');
  lane.kind = "linked";
  lane.path = "/x/\xff";
  lane.git_dir = "/x/.git/worktrees/alpha";
  lane.branch = "refs/heads/maco/alpha";
  lane.base = std::string(40, 'b');
  lane.format = "sha1";
  lane.state = "ready";
  lane.created_us = 1;
  lane.changed_us = 2;
  lane.uid = 3;
  lane.device = 4;
  lane.inode = ~std::uint64_t{0} >> 1U;
  lane.tainted = "is a FIFO";
  lane.candidate = std::string(32, 'c');
  return lane;
}

TEST(LaneName, IsOneComponentOfAPathAndARef) {
  for (const char* name : {"a", "alpha", "v1.2_x-y", "A", "0", "a.b.c", "_"}) {
    EXPECT_TRUE(IsLaneName(name)) << name;
  }
  for (const char* name : {"", ".", "..", ".a", "-a", "a.", "a..b", "a/b", "a b", "a\nb", "a.lock",
                           "a\xff", "a~b", "a:b", "a@{b", "a*", "a\\b", "\xc3\xa4"}) {
    EXPECT_FALSE(IsLaneName(name)) << name;
  }
  EXPECT_TRUE(IsLaneName(std::string(48, 'a')));
  EXPECT_FALSE(IsLaneName(std::string(49, 'a')));
  EXPECT_FALSE(IsLaneName(std::string_view("a\0b", 3)));
}

TEST(LaneRow, ComesBackAsItWas) {
  const Lane lane = SomeLane();
  const auto back = DecodeLane(LaneKey(lane.name), Encode(lane));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->name, "alpha");
  EXPECT_EQ(back->path, "/x/\xff");
  EXPECT_EQ(back->inode, lane.inode);
  EXPECT_EQ(Encode(*back), Encode(lane));
}

TEST(LaneRow, LacksNoMember) {
  const Json row = Encode(SomeLane());
  for (const auto& [name, value] : row.items()) {
    Json less = row;
    less.erase(name);
    const auto lane = DecodeLane("lane/alpha", less);
    ASSERT_FALSE(lane.has_value()) << name;
    EXPECT_EQ(lane.error().code, Code::kCorrupt) << name;
    less[name] = Json::array({Json::object()});
    EXPECT_FALSE(DecodeLane("lane/alpha", less).has_value()) << name;
  }
}

TEST(LaneRow, OfALaterVersionIsUnsupported) {
  Json row = Encode(SomeLane());
  row["v"] = std::uint64_t{2};
  const auto lane = DecodeLane("lane/alpha", row);
  ASSERT_FALSE(lane.has_value());
  EXPECT_EQ(lane.error().code, Code::kUnsupported);
}

TEST(ClaimRow, KeepsPathsThatAreNoText) {
  Claim claim;
  claim.lane = "alpha";
  claim.paths = {"src", "\xff\xfe", "new\nline"};
  claim.expires_us = 7;
  const auto back = DecodeClaim(ClaimKey("0123"), Encode(claim));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->id, "0123");
  EXPECT_EQ(back->paths, claim.paths);
  EXPECT_EQ(back->expires_us, 7U);
}

TEST(OtherRows, ComeBackAsTheyWere) {
  Candidate candidate;
  candidate.note = "bad\xff";
  candidate.applied_to = "/x";
  const auto one = DecodeCandidate(CandidateKey("01"), Encode(candidate));
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(one->note, "bad\xff");
  Apply apply;
  apply.worktree = "/w";
  apply.mode = "commit";
  const auto two = DecodeApply(ApplyKey("02"), Encode(apply));
  ASSERT_TRUE(two.has_value());
  EXPECT_EQ(two->id, "02");
  EXPECT_EQ(Encode(*two), Encode(apply));
  Intent intent;
  intent.what = {"Parser::Next"};
  const auto three = DecodeIntent(IntentKey("03"), Encode(intent));
  ASSERT_TRUE(three.has_value());
  EXPECT_EQ(three->what, intent.what);
}

TEST(EncodeBytes, IsTextOrHex) {
  EXPECT_EQ(EncodeBytes("a"), Json("a"));
  EXPECT_EQ(EncodeBytes("\xff"), (Json{{"hex", "ff"}}));
  for (const char* text : {"", "a", "\xff", "a\nb"}) {
    const auto back = DecodeBytes(EncodeBytes(text));
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(*back, text);
  }
  for (const Json& wrong : {Json(1), Json{{"hex", "f"}}, Json{{"hex", "zz"}}, Json::array()}) {
    EXPECT_FALSE(DecodeBytes(wrong).has_value());
  }
}

}  // namespace
}  // namespace maco

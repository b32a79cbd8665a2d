// Paths of claims: canonical form, coverage and overlap (WT-02).
#include "libcommon/lane/claim_path.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/unit/scratch_dir.h"

namespace maco {
namespace {

class ClaimPath : public testing::Test {
 protected:
  ClaimPath() {
    std::filesystem::create_directories(scratch_.Path("src/deep"));
    Link("src", "way");
    Link("../outside", "out");
    Link(scratch_.Path("src"), "absolute");
    Link("../../src", "src/deep/up");
    Link("loop", "loop");
    Link(".git", "gate");
  }

  void Link(const std::string& target, const std::string& name) {
    EXPECT_EQ(symlink(target.c_str(), scratch_.Path(name).c_str()), 0);
  }

  std::string Canonical(const std::string& path, const std::string& prefix = "") {
    const auto out = CanonicalClaimPath(scratch_.dir(), scratch_.path(), prefix, path);
    return out ? *out : "refused";
  }

  ScratchDir scratch_;
};

TEST_F(ClaimPath, IsCanonical) {
  EXPECT_EQ(Canonical("src"), "src");
  EXPECT_EQ(Canonical("./src//deep/"), "src/deep");
  EXPECT_EQ(Canonical("src/../new/file"), "new/file");
  EXPECT_EQ(Canonical("no/such/../dir"), "no/dir");
  EXPECT_EQ(Canonical("."), ".");
  EXPECT_EQ(Canonical("src/.."), ".");
  EXPECT_EQ(Canonical(scratch_.Path("src")), "src");
  EXPECT_EQ(Canonical(scratch_.path()), ".");
}

TEST_F(ClaimPath, CountsFromThePrefix) {
  EXPECT_EQ(Canonical("a", "src/deep"), "src/deep/a");
  EXPECT_EQ(Canonical("../a", "src/deep"), "src/a");
  EXPECT_EQ(Canonical(".", "src"), "src");
  EXPECT_EQ(Canonical("../../a", "src"), "refused");
}

TEST_F(ClaimPath, FollowsLinksInsideTheTree) {
  EXPECT_EQ(Canonical("way/file"), "src/file");
  EXPECT_EQ(Canonical("absolute/file"), "src/file");
  EXPECT_EQ(Canonical("src/deep/up/file"), "src/file");
  EXPECT_EQ(Canonical("way/../file"), "file");
}

TEST_F(ClaimPath, RefusesWhatLeavesTheTree) {
  for (const char* path : {"..", "../x", "src/../../x", "/etc", "out", "out/file", "loop", ""}) {
    EXPECT_EQ(Canonical(path), "refused") << path;
  }
  EXPECT_EQ(Canonical(scratch_.path() + "x"), "refused");
}

TEST_F(ClaimPath, RefusesWhatIsGitsOwn) {
  for (const char* path : {".git", ".git/config", ".GIT", "src/.git/hooks", "gate/config"}) {
    EXPECT_EQ(Canonical(path), "refused") << path;
  }
  EXPECT_EQ(Canonical(".github"), ".github");
}

TEST_F(ClaimPath, HasALimit) {
  EXPECT_EQ(Canonical(std::string(kMaxClaimPathBytes, 'a')).size(), kMaxClaimPathBytes);
  EXPECT_EQ(Canonical(std::string(kMaxClaimPathBytes + 1, 'a')), "refused");
}

TEST(ClaimsOverlap, GoesByComponents) {
  const auto overlap = [](const char* a, const char* b) {
    EXPECT_EQ(ClaimsOverlap(a, b, Letters::kDiffer), ClaimsOverlap(b, a, Letters::kDiffer));
    return ClaimsOverlap(a, b, Letters::kDiffer);
  };
  EXPECT_TRUE(overlap("src", "src"));
  EXPECT_TRUE(overlap("src", "src/a"));
  EXPECT_TRUE(overlap("src/a", "src/a/b/c"));
  EXPECT_TRUE(overlap(".", "src"));
  EXPECT_TRUE(overlap(".", "."));
  EXPECT_FALSE(overlap("src", "src2"));
  EXPECT_FALSE(overlap("src/a", "src/b"));
  EXPECT_FALSE(overlap("src", "SRC"));
  EXPECT_FALSE(overlap("src.", "src"));
}

TEST(ClaimsOverlap, MatchesLettersOfBothCases) {
  EXPECT_TRUE(ClaimsOverlap("src", "SRC/a", Letters::kMatch));
  EXPECT_TRUE(ClaimsOverlap("Src/A", "sRC/a", Letters::kMatch));
  EXPECT_FALSE(ClaimsOverlap("src", "SRC2", Letters::kMatch));
  EXPECT_FALSE(ClaimsOverlap("\xc3\xa4", "\xc3\x84", Letters::kMatch));  // ASCII alone
}

TEST(ClaimCovers, OnlyWhatLiesBelow) {
  EXPECT_TRUE(ClaimCovers("src", "src/a", Letters::kDiffer));
  EXPECT_TRUE(ClaimCovers(".", "a", Letters::kDiffer));
  EXPECT_FALSE(ClaimCovers("src/a", "src", Letters::kDiffer));
  EXPECT_FALSE(ClaimCovers("src", ".", Letters::kDiffer));
}

}  // namespace
}  // namespace maco

// Rows of lists: what is ours counts once, however often a list that shifts shows it.
// Contract under test: maco-effect/forge/sieve.h.
#include "maco-effect/forge/sieve.h"

#include <gtest/gtest.h>

#include "libcommon/auth/foreign_json.h"

namespace maco::effect {
namespace {

const std::string kMarker(32, 'b');
const std::string kBody = "Body\n\n" + MarkerText(kMarker);

class SieveTest : public ::testing::Test {
 protected:
  SieveTest() {
    request_.operation = "issue";
    effect_.operation = "issue";
    effect_.actor_id = "1";
    effect_.marker = kMarker;
    effect_.content_sha256 = ContentDigest("Title", kBody, "", "");
  }

  Json Row(int number, const std::string& title = "Title", const std::string& body = kBody) const {
    const Json row = {{"id", 100 + number},
                      {"number", number},
                      {"title", title},
                      {"body", body},
                      {"state", "open"},
                      {"html_url", "https://github.com/acme/app/issues/" + std::to_string(number)},
                      {"created_at", "2026-11-30T09:00:00Z"},
                      {"user", {{"id", 1}, {"login", "bob"}}}};
    return *ParseForeignJson(row.dump(), 1U << 20U);  // a literal's numbers would have signs
  }

  std::unique_ptr<Dialect> dialect_ = MakeGithub();
  Request request_;
  Effect effect_;
};

TEST_F(SieveTest, WhatASecondPageShowsAgainCountsOnce) {
  Sieve sieve(*dialect_, request_, effect_);
  sieve.Take(Row(7));
  sieve.Take(Row(8, "Other", "nothing of ours"));
  sieve.Take(Row(7));
  ASSERT_EQ(sieve.found().ours.size(), 1U);
  EXPECT_EQ(sieve.found().ours[0].id, "issue/7");
  EXPECT_TRUE(sieve.found().odd.empty());
}

TEST_F(SieveTest, TwoOfOursAreTwo) {
  Sieve sieve(*dialect_, request_, effect_);
  sieve.Take(Row(7));
  sieve.Take(Row(8));
  EXPECT_EQ(sieve.found().ours.size(), 2U);
}

TEST_F(SieveTest, WhatDoesNotFitIsToldOnce) {
  Sieve sieve(*dialect_, request_, effect_);
  sieve.Take(Row(7, "Edited"));
  sieve.Take(Row(7, "Edited"));
  sieve.Take(Row(7));
  EXPECT_EQ(sieve.found().odd.size(), 1U);
  EXPECT_TRUE(sieve.found().ours.empty());
}

TEST_F(SieveTest, APullRequestOfTheSameBranchesIsARival) {
  request_.operation = "pr";
  request_.head = "fx/one";
  request_.base = "main";
  Json row = Row(7, "Other", "nothing of ours");
  row["head"] = {{"ref", "fx/one"}};
  row["base"] = {{"ref", "main"}};
  Sieve sieve(*dialect_, request_, effect_);
  sieve.Take(row);
  EXPECT_TRUE(sieve.found().rival);
  row["state"] = "closed";
  Sieve other(*dialect_, request_, effect_);
  other.Take(row);
  EXPECT_FALSE(other.found().rival);
}

}  // namespace
}  // namespace maco::effect

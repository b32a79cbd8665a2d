// Answers of three forges: items as their documentation has them, and odd ones.
// Contract under test: maco-effect/forge/dialect.h.
#include "maco-effect/forge/dialect.h"

#include <gtest/gtest.h>

#include "libcommon/auth/foreign_json.h"

namespace maco::effect {
namespace {

// As it comes from a forge: numbers of a literal here would have signs.
Json Parsed(const Json& json) { return *ParseForeignJson(json.dump(), 1U << 20U); }

Json GithubIssue() {
  return {{"id", 9},
          {"number", 17},
          {"title", "Title"},
          {"body", "Body"},
          {"state", "open"},
          {"html_url", "https://github.com/acme/app/issues/17"},
          {"created_at", "2026-11-30T09:00:00Z"},
          {"user", {{"id", 1}, {"login", "bob"}}}};
}

Json GitlabRequest() {
  return {{"id", 9},
          {"iid", 17},
          {"title", "Draft: Title"},
          {"description", "Body"},
          {"state", "opened"},
          {"source_branch", "fx/one"},
          {"target_branch", "main"},
          {"web_url", "https://gitlab.com/acme/app/-/merge_requests/17"},
          {"created_at", "2026-11-30T10:00:00.123+01:00"},
          {"author", {{"id", 1}, {"username", "bob"}}}};
}

Json GiteaPull() {
  Json out = GithubIssue();
  out["head"] = {{"ref", "fx/one"}};
  out["base"] = {{"ref", "main"}};
  out["merged"] = true;
  out["title"] = "WIP: Title";
  return out;
}

constexpr std::uint64_t kCreated = 1'796'029'200'000'000;

TEST(Dialect, AnIssueOfGithub) {
  const auto item = MakeGithub()->ReadItem("issue", 0, Parsed(GithubIssue()));
  ASSERT_TRUE(item);
  EXPECT_EQ(item->receipt, (Receipt{"issue/17", "https://github.com/acme/app/issues/17", 17}));
  EXPECT_EQ(item->author_id, "1");
  EXPECT_EQ(item->created_us, kCreated);
  EXPECT_EQ(item->state, "open");
}

TEST(Dialect, GithubListsPullRequestsAmongIssues) {
  Json row = GithubIssue();
  EXPECT_TRUE(MakeGithub()->Belongs("issue", row));
  row["pull_request"] = Json::object();
  EXPECT_FALSE(MakeGithub()->Belongs("issue", row));
  EXPECT_TRUE(MakeGithub()->Belongs("comment", row));
}

TEST(Dialect, AMergeRequestOfGitlabIsAPullRequestWhoseDraftIsAState) {
  const auto item = MakeGitlab()->ReadItem("pr", 0, Parsed(GitlabRequest()));
  ASSERT_TRUE(item);
  EXPECT_EQ(item->receipt.id, "pr/17");
  EXPECT_EQ(item->title, "Title");
  EXPECT_EQ(item->state, "open");
  EXPECT_EQ(item->head, "fx/one");
  EXPECT_EQ(item->created_us, kCreated);
}

TEST(Dialect, AMergedOneOfGitea) {
  const auto item = MakeGitea()->ReadItem("pr", 0, Parsed(GiteaPull()));
  ASSERT_TRUE(item);
  EXPECT_EQ(item->state, "merged");
  EXPECT_EQ(item->title, "Title");
}

TEST(Dialect, AMergedOneOfGiteaWhoseBranchWasDeletedStillNamesIt) {
  const auto head = [](const Json& side) {
    Json pull = GiteaPull();
    pull["head"] = side;
    const auto item = MakeGitea()->ReadItem("pr", 0, Parsed(pull));
    return item ? item->head : "";
  };
  EXPECT_EQ(head({{"ref", "refs/pull/17/head"}, {"label", "fx/one"}}), "fx/one");
  EXPECT_EQ(head({{"ref", "refs/pull/17/head"}, {"label", "bob:fx/one"}}), "fx/one");
  EXPECT_EQ(head({{"ref", "refs/pull/17/head"}}), "refs/pull/17/head");
  EXPECT_EQ(head({{"ref", "fx/one"}, {"label", "bob:fx/two"}}), "fx/one");
}

TEST(Dialect, AnItemNamesItsRepositoryWhereTheAnswerDoes) {
  Json issue = GithubIssue();
  EXPECT_EQ(MakeGithub()->ReadItem("issue", 0, Parsed(issue))->repository_path, "");
  issue["repository_url"] = "https://api.github.com/repos/acme/app";
  EXPECT_EQ(MakeGithub()->ReadItem("issue", 0, Parsed(issue))->repository_path, "acme/app");
  issue["issue_url"] = "https://ghe.test/api/v3/repos/acme/other/issues/17";
  EXPECT_EQ(MakeGithub()->ReadItem("comment", 17, Parsed(issue))->repository_path, "acme/other");
  Json pull = GithubIssue();
  pull["head"] = {{"ref", "fx/one"}, {"repo", nullptr}};
  pull["base"] = {{"ref", "main"}, {"repo", {{"id", 42}}}};
  EXPECT_EQ(MakeGithub()->ReadItem("pr", 0, Parsed(pull))->repository_id, "42");
  Json request = GitlabRequest();
  request["project_id"] = 43;
  EXPECT_EQ(MakeGitlab()->ReadItem("pr", 0, Parsed(request))->repository_id, "43");
  Json gitea = GithubIssue();
  gitea["repository"] = {{"id", 44}, {"full_name", "acme/app"}};
  EXPECT_EQ(MakeGitea()->ReadItem("issue", 0, Parsed(gitea))->repository_id, "44");
  gitea = GiteaPull();
  gitea["base"] = {{"ref", "main"}, {"repo_id", 45}};
  EXPECT_EQ(MakeGitea()->ReadItem("pr", 0, Parsed(gitea))->repository_id, "45");
}

TEST(Dialect, ListsThatDescendByTimeSayIt) {
  const Json row = {{"created_at", "2026-11-30T09:00:00Z"}, {"updated_at", "2026-11-30T09:00:00Z"}};
  Request request;
  request.operation = "pr";
  EXPECT_EQ(MakeGitea()->DescendingTime(request, row), kCreated);
  EXPECT_EQ(MakeGitea()->DescendingTime(request, Json::object()), 0U);
  EXPECT_EQ(MakeGithub()->DescendingTime(request, row), 0U);
  EXPECT_EQ(MakeGitlab()->DescendingTime(request, row), 0U);
  request.operation = "comment";
  EXPECT_EQ(MakeGitlab()->DescendingTime(request, row), kCreated);
  EXPECT_EQ(MakeGitea()->DescendingTime(request, row), 0U) << "one page, oldest first";
}

TEST(Dialect, ACommentBelongsToItsIssue) {
  Json comment = GithubIssue();
  comment["issue_url"] = "https://api.github.com/repos/acme/app/issues/17";
  EXPECT_TRUE(MakeGithub()->ReadItem("comment", 17, Parsed(comment)));
  EXPECT_TRUE(MakeGitea()->ReadItem("comment", 17, Parsed(comment)));
  EXPECT_FALSE(MakeGithub()->ReadItem("comment", 7, Parsed(comment)));
  EXPECT_FALSE(MakeGitea()->ReadItem("comment", 7, Parsed(comment)));
  Json note = GitlabRequest();
  note["noteable_iid"] = 17;
  EXPECT_TRUE(MakeGitlab()->ReadItem("comment", 17, Parsed(note)));
  EXPECT_FALSE(MakeGitlab()->ReadItem("comment", 7, Parsed(note)));
}

TEST(Dialect, AnItemLacksNothingThatItIsJudgedBy) {
  const auto lacks = [](const Dialect& dialect, const char* kind, const Json& whole,
                        const char* name) {
    Json less = whole;
    less.erase(name);
    Json null = whole;
    null[name] = nullptr;
    Json odd = whole;
    odd[name] = Json::array({1});
    return dialect.ReadItem(kind, 0, Parsed(whole)) && !dialect.ReadItem(kind, 0, Parsed(less)) &&
           !dialect.ReadItem(kind, 0, Parsed(null)) && !dialect.ReadItem(kind, 0, Parsed(odd));
  };
  for (const char* name : {"number", "title", "state", "created_at", "user"}) {
    EXPECT_TRUE(lacks(*MakeGithub(), "issue", GithubIssue(), name)) << name;
    EXPECT_TRUE(lacks(*MakeGitea(), "pr", GiteaPull(), name)) << name;
  }
  for (const char* name :
       {"iid", "title", "state", "created_at", "author", "source_branch", "target_branch"}) {
    EXPECT_TRUE(lacks(*MakeGitlab(), "pr", GitlabRequest(), name)) << name;
  }
  for (const Json& odd : {Json(), Json::array(), Json("x"), Json(1), Json::object()}) {
    for (const char* kind : {"issue", "pr", "comment"}) {
      EXPECT_FALSE(MakeGithub()->ReadItem(kind, 0, odd));
      EXPECT_FALSE(MakeGitlab()->ReadItem(kind, 0, odd));
      EXPECT_FALSE(MakeGitea()->ReadItem(kind, 0, odd));
    }
  }
}

TEST(Dialect, TimesInAllForms) {
  const auto time = [](const char* text) { return TimeOf(Json{{"t", text}}, "t").value_or(0); };
  EXPECT_EQ(time("2026-11-30T09:00:00Z"), kCreated);
  EXPECT_EQ(time("2026-11-30T09:00:00.999999999Z"), kCreated);
  EXPECT_EQ(time("2026-11-30T10:00:00+01:00"), kCreated);
  EXPECT_EQ(time("2026-11-30T03:30:00-05:30"), kCreated);
  for (const char* text :
       {"", "2026-11-30", "2026-11-30T09:00:00", "2026-11-30T09:00:00.", "2026-11-30T09:00:00.5",
        "2026-11-30T09:00:00+1:00", "2026-11-30T09:00:00+aa:00", "2026-11-30T09:00:00Zx",
        "1900-01-01T00:00:00Z"}) {
    EXPECT_EQ(time(text), 0U) << text;
  }
}

TEST(Dialect, PathsHoldNamesAsTheForgeWantsThem) {
  Request request;
  request.repository = "gitlab.com/acme/sub/app";
  request.operation = "pr";
  EXPECT_EQ(MakeGitlab()->CreatePath(request), "/projects/acme%2Fsub%2Fapp/merge_requests");
  request.head = "fx/a&b=c";
  const std::string list = MakeGitlab()->ListPath(request, {"bob", "acme", 0, 2});
  EXPECT_NE(list.find("source_branch=fx%2Fa%26b%3Dc"), std::string::npos);
  EXPECT_NE(list.find("state=all"), std::string::npos);
  EXPECT_NE(list.find("page=2"), std::string::npos);
  request.repository = "github.com/acme/app";
  EXPECT_NE(MakeGithub()->ListPath(request, {"bob", "acme", 0, 1}).find("head=acme%3Afx%2Fa%26b"),
            std::string::npos);
}

}  // namespace
}  // namespace maco::effect

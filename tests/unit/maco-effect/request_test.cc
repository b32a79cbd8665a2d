// Identities, markers, stored requests, and what is refused before it is sent.
// Contract under test: maco-effect/request.h, docs/formats/effect.md ("Identity").
#include "maco-effect/request.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace maco::effect {
namespace {

Key TestKey(std::uint8_t fill) {
  const std::vector<std::uint8_t> bytes(Key::kBytes, fill);
  return *Key::FromBytes(bytes);
}

Request Issue() {
  Request out;
  out.operation = "issue";
  out.transport = "github";
  out.api = "https://api.github.com";
  out.repository = "github.com/acme/app";
  out.action = "a";
  out.title = "Title";
  out.body = "Body";
  return out;
}

Request PullRequest() {
  Request out = Issue();
  out.operation = "pr";
  out.head = "fx/one";
  out.base = "main";
  return out;
}

Effect Plan(Request request, std::uint8_t key = 1, const std::string& state = "state") {
  return PlanOf(request, TestKey(key), state);
}

using Change = std::function<void(Request&)>;

TEST(Identity, TheSameRequestIsTheSameEffect) {
  EXPECT_EQ(Plan(Issue()).id, Plan(Issue()).id);
  EXPECT_EQ(Plan(Issue()).marker, Plan(Issue()).marker);
  EXPECT_EQ(Plan(Issue()).id.size(), kEffectIdDigits);
}

TEST(Identity, EachMemberCounts) {
  const std::vector<Change> changes = {
      [](Request& r) { r.operation = "comment"; }, [](Request& r) { r.transport = "gitea"; },
      [](Request& r) { r.api = "https://other"; }, [](Request& r) { r.repository += "x"; },
      [](Request& r) { r.action = "a@2"; },        [](Request& r) { r.title += "x"; },
      [](Request& r) { r.body += "x"; },           [](Request& r) { r.head += "x"; },
      [](Request& r) { r.base += "x"; },           [](Request& r) { r.draft = true; },
      [](Request& r) { r.labels = {"x"}; },        [](Request& r) { r.candidate = "c"; },
      [](Request& r) { r.evidence = {"e"}; }};
  std::set<std::string> ids = {Plan(PullRequest()).id};
  std::set<std::string> markers = {Plan(PullRequest()).marker};
  for (const auto& change : changes) {
    Request request = PullRequest();
    change(request);
    ids.insert(Plan(request).id);
    markers.insert(Plan(request).marker);
  }
  EXPECT_EQ(ids.size(), changes.size() + 1);
  EXPECT_EQ(markers.size(), changes.size() + 1);
}

TEST(Identity, MembersOfPushesAndComments) {
  Request push;
  push.operation = "push";
  push.transport = kGitTransport;
  push.repository = "/srv/a.git";
  push.action = "a";
  push.ref = "refs/heads/x";
  push.oid = std::string(40, 'a');
  std::set<std::string> ids = {Plan(push).id};
  for (const Change& change : {Change([](Request& r) { r.ref += "x"; }),
                               Change([](Request& r) { r.oid = std::string(40, 'b'); }),
                               Change([](Request& r) { r.expected = "none"; })}) {
    Request request = push;
    change(request);
    ids.insert(Plan(request).id);
  }
  EXPECT_EQ(ids.size(), 4U);
  EXPECT_TRUE(Plan(push).marker.empty());
  Request comment = Issue();
  comment.operation = "comment";
  comment.number = 1;
  Request other = comment;
  other.number = 2;
  Request pull = comment;
  pull.on_pr = true;
  EXPECT_EQ((std::set<std::string>{Plan(comment).id, Plan(other).id, Plan(pull).id}).size(), 3U);
}

TEST(Identity, OfARepositoryAndItsKey) {
  EXPECT_NE(Plan(Issue(), 1, "one").id, Plan(Issue(), 1, "two").id);
  EXPECT_EQ(Plan(Issue(), 1).id, Plan(Issue(), 2).id);
  EXPECT_NE(Plan(Issue(), 1).marker, Plan(Issue(), 2).marker);  // nobody else can foresee it
}

TEST(Identity, TheSubjectLeavesThePayloadOut) {
  Request other = Issue();
  other.body = "other";
  EXPECT_EQ(Plan(Issue()).subject, Plan(other).subject);
  other.action = "b";
  EXPECT_NE(Plan(Issue()).subject, Plan(other).subject);
}

TEST(Identity, AnActionIsDerivedFromAll) {
  Request one = Issue();
  one.action.clear();
  Request two = one;
  two.body = "other";
  PlanOf(one, TestKey(1), "state");
  PlanOf(two, TestKey(1), "state");
  EXPECT_TRUE(one.action.starts_with("auto-"));
  EXPECT_NE(one.action, two.action);
}

TEST(Marker, IsACommentAtTheEndOfTheBody) {
  Request request = Issue();
  EXPECT_EQ(MarkedBody(request, "m"), "Body\n\n<!-- maco-effect-m -->");
  request.body = "Body \n\n\t";
  EXPECT_EQ(MarkedBody(request, "m"), "Body\n\n<!-- maco-effect-m -->");
  request.body = "";
  EXPECT_EQ(MarkedBody(request, "m"), "<!-- maco-effect-m -->");
}

TEST(Stored, ARequestComesBackAsItWas) {
  Request request = PullRequest();
  request.draft = true;
  request.labels = {"a", "b"};
  request.evidence = {"e"};
  request.candidate = "c";
  request.number = 7;
  request.on_pr = true;
  request.ref = "refs/heads/x";
  request.oid = "o";
  request.expected = "none";
  const auto again = DecodeRequest(Encode(request));
  ASSERT_TRUE(again);
  EXPECT_TRUE(*again == request);
}

TEST(Stored, EachMemberIsNeeded) {
  const Json whole = Encode(PullRequest());
  for (const auto& [name, value] : whole.items()) {
    if (name == "v") {
      continue;
    }
    Json less = whole;
    less.erase(name);
    EXPECT_FALSE(DecodeRequest(less)) << name;
    Json odd = whole;
    odd[name] = Json::object();
    EXPECT_FALSE(DecodeRequest(odd)) << name;
  }
  EXPECT_FALSE(DecodeRequest(Json::object()));
}

TEST(Check, WholeRequestsPass) {
  EXPECT_TRUE(CheckRequest(Issue()));
  EXPECT_TRUE(CheckRequest(PullRequest()));
}

TEST(Check, WhatAForgeWouldChangeIsRefused) {
  const std::vector<Change> changes = {
      [](Request& r) { r.title = ""; },
      [](Request& r) { r.title = " x"; },
      [](Request& r) { r.title = "a\nb"; },
      [](Request& r) { r.title = std::string(256, 'x'); },
      [](Request& r) { r.title = "\xff"; },
      [](Request& r) { r.body = "a\r\nb"; },
      [](Request& r) { r.body = std::string(65'001, 'x'); },
      [](Request& r) { r.body = std::string("a\0b", 3); },
      [](Request& r) { r.body = "<!-- maco-effect-x -->"; },
      [](Request& r) { r.labels = {"a,b"}; },
      [](Request& r) { r.labels = {""}; },
      [](Request& r) { r.labels = std::vector<std::string>(101, "x"); },
      [](Request& r) { r.action = "a\nb"; },
      [](Request& r) { r.head = ""; },
      [](Request& r) { r.base = "-x"; },
      [](Request& r) { r.head = "owner:x"; },
      [](Request& r) { r.head = "a..b"; },
      [](Request& r) { r.head = "a.lock"; },
      [](Request& r) { r.base = "a/.b"; },
      [](Request& r) { r.head = r.base; }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Request request = PullRequest();
    changes[i](request);
    EXPECT_FALSE(CheckRequest(request)) << i;
  }
}

TEST(Check, OrdersAndDraftsOfDialects) {
  Request request = PullRequest();
  request.body = "fine\n \t/close";
  EXPECT_TRUE(CheckRequest(request));
  request.transport = "gitlab";
  EXPECT_FALSE(CheckRequest(request));
  request.body = "fine";
  request.title = "Draft: x";
  EXPECT_FALSE(CheckRequest(request));
  request.transport = "gitea";
  EXPECT_TRUE(CheckRequest(request));
  request.title = "WIP: x";
  EXPECT_FALSE(CheckRequest(request));
}

}  // namespace
}  // namespace maco::effect

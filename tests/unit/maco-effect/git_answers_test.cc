// What git printed of a push and of a remote's refs.
// Contract under test: maco-effect/git_transport.h. Source: git-push(1), "OUTPUT".
#include <gtest/gtest.h>

#include "maco-effect/git_transport.h"

namespace maco::effect {
namespace {

const std::string kOid(40, 'a');
const std::string kRef = "refs/heads/fx/one";

Outcome Read(const std::string& lines, const std::string& errors = "") {
  return ReadPushReport("To http://x\n" + lines + "Done\n", kRef, kOid, errors);
}

std::string Line(const std::string& flag, const std::string& words) {
  return flag + "\t" + kOid + ":" + kRef + "\t" + words + "\n";
}

TEST(PushReport, FlagsOfAppliedPushes) {
  for (const auto& [flag, words] : {std::pair("*", "[new branch]"),
                                    {" ", "1..2"},
                                    {"+", "1...2 (forced update)"},
                                    {"=", "[up to date]"}}) {
    const auto outcome = Read(Line(flag, words));
    EXPECT_EQ(outcome.kind, Outcome::Kind::kApplied) << flag;
    EXPECT_EQ(outcome.receipt.id, kRef + "@" + kOid);
  }
}

TEST(PushReport, RefusalsOfGitItselfAreCertain) {
  EXPECT_EQ(Read(Line("!", "[rejected] (stale info)")).kind, Outcome::Kind::kNotApplied);
  EXPECT_EQ(Read(Line("!", "[rejected] (non-fast-forward)")).kind, Outcome::Kind::kNotApplied);
}

TEST(PushReport, ARefusalOfTheServerIsLookedAt) {
  for (const char* words : {"[remote rejected] (pre-receive hook declined)",
                            "[remote rejected] (failed to update ref)"}) {
    EXPECT_EQ(Read(Line("!", words)).kind, Outcome::Kind::kExists) << words;
  }
}

TEST(PushReport, AServerThatDidNotSaySaysNothing) {
  EXPECT_EQ(Read(Line("!", "[remote rejected] (expecting report)")).kind, Outcome::Kind::kUnknown)
      << "an older git's words over HTTP";
  EXPECT_EQ(Read(Line("!", "[remote failure] (remote failed to report status)")).kind,
            Outcome::Kind::kUnknown);
  EXPECT_EQ(Read("").kind, Outcome::Kind::kUnknown);
  EXPECT_EQ(ReadPushReport("", kRef, kOid, "fatal: \x1b[31mgone").kind, Outcome::Kind::kUnknown);
  EXPECT_EQ(ReadPushReport("", kRef, kOid, "fatal: \x1b[31mgone").reason.find('\x1b'),
            std::string::npos);
}

TEST(PushReport, LinesOfOtherRefsDoNotCount) {
  EXPECT_EQ(Read("*\t" + kOid + ":" + kRef + "x\t[new branch]\n").kind, Outcome::Kind::kUnknown);
  EXPECT_EQ(Read("*\t" + std::string(40, 'b') + ":" + kRef + "\t[new branch]\n").kind,
            Outcome::Kind::kUnknown);
  EXPECT_EQ(Read("*\t" + kOid + ":" + kRef + "\n").kind, Outcome::Kind::kUnknown);
  EXPECT_EQ(Read("?\t" + kOid + ":" + kRef + "\t[new branch]\n").kind, Outcome::Kind::kUnknown);
  EXPECT_EQ(Read("**\t" + kOid + ":" + kRef + "\t[new branch]\n").kind, Outcome::Kind::kUnknown);
}

TEST(RemoteRef, OnlyTheExactNameCounts) {
  const std::string out = "1111\trefs/heads/zz/refs/heads/fx/one\n2222\trefs/heads/fx/one\n";
  EXPECT_EQ(ReadRemoteRef(out, kRef), "2222");
  EXPECT_EQ(ReadRemoteRef("1111\trefs/heads/zz/refs/heads/fx/one\n", kRef), "");
  EXPECT_EQ(ReadRemoteRef("", kRef), "");
  EXPECT_EQ(ReadRemoteRef("no tab\n", kRef), "");
}

TEST(PushUrl, WhatMayBePushedTo) {
  for (const char* url : {"https://example.org/a/b", "http://127.0.0.1:1/a", "ssh://u@h/a",
                          "ssh://u@h:22/a", "ssh://[::1]:22/a", "git@h:a/b.git", "/srv/a.git",
                          "file:///srv/a@b", "git://h/a", "https://h/a@b"}) {
    EXPECT_TRUE(CheckPushUrl(url)) << url;
  }
}

TEST(PushUrl, WhatMayNot) {
  for (const char* url :
       {"", "-x", "--upload-pack=x", "https://u:p@h/a", "https://t@h/a", "http://u@h",
        "ssh://u:p@h/a", "ftp://u:p@h/a", "ext::sh -c x", "fd::3", "a::b", "ext::https://h/a",
        "https://h/a\nb", "/a\x1b", "https://h/\xff"}) {
    EXPECT_FALSE(CheckPushUrl(url)) << url;
  }
}

TEST(PushUrl, TheRefusalDoesNotRepeatTheSecret) {
  for (const char* url : {"https://u:hunter2@h/a", "https://u:hunter2@h/a\n", "ftp://u:hunter2@h",
                          "https://u:hunter2@h/\xff", "ext::https://u:hunter2@h/a"}) {
    const auto checked = CheckPushUrl(url);
    ASSERT_FALSE(checked) << url;
    EXPECT_EQ(Describe(checked.error()).find("hunter2"), std::string::npos);
  }
}

}  // namespace
}  // namespace maco::effect

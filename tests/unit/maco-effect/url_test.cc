// URLs: the repository of a forge that one names, what may be asked, origins, encoding.
// Contract under test: maco-effect/place.h, maco-effect/forge/http.h.
#include <gtest/gtest.h>

#include "maco-effect/forge/http.h"
#include "maco-effect/place.h"
#include "maco-effect/shown_url.h"

namespace maco::effect {
namespace {

TEST(ForgeRepository, FormsOfOneRepository) {
  for (const char* url :
       {"https://github.com/acme/app.git", "https://github.com/acme/app",
        "git@github.com:acme/app.git", "ssh://git@github.com/acme/app.git",
        "ssh://git@github.com:22/acme/app", "github.com/acme/app", "GitHub.com/acme/app",
        "https://u:p@github.com/acme/app/", "github.com:acme/app"}) {
    const auto found = ForgeRepositoryOf(url);
    ASSERT_TRUE(found) << url;
    EXPECT_EQ(*found, "github.com/acme/app") << url;
  }
}

TEST(ForgeRepository, PortsAndGroups) {
  EXPECT_EQ(ForgeRepositoryOf("127.0.0.1:8080/acme/app").value_or(""), "127.0.0.1:8080/acme/app");
  EXPECT_EQ(ForgeRepositoryOf("http://127.0.0.1:8080/acme/app.git").value_or(""),
            "127.0.0.1:8080/acme/app");
  EXPECT_EQ(ForgeRepositoryOf("https://gitlab.com/a/b/c/d").value_or(""), "gitlab.com/a/b/c/d");
}

TEST(ForgeRepository, WhatIsNone) {
  for (const char* url : {"", "/srv/acme/app.git", "./acme/app", "../acme/app", "file:///acme/app",
                          "https://github.com/acme", "https://github.com/", "github.com",
                          "https://github.com/acme/../x", "https://github.com/acme/a b",
                          "https://github.com/acme/app?x=1", "https://github.com/acme/%2e%2e",
                          "https:///acme/app", "github.com/acme/app#x", "github.com//app"}) {
    EXPECT_FALSE(ForgeRepositoryOf(url)) << url << " " << ForgeRepositoryOf(url).value_or("");
  }
}

TEST(ForgeRepository, OfAUrlWithCredentialsTheyAreNoPart) {
  EXPECT_EQ(ForgeRepositoryOf("https://u:p@ss@github.com/acme/app").value_or(""),
            "github.com/acme/app");
  for (const char* url : {"https://u:hunter2@github.com/acme", "https://hunter2@github.com/",
                          "u:hunter2@github.com/acme", "u:hunter2@github.com:acme",
                          "https://github.com/acme?token=hunter2"}) {
    const auto found = ForgeRepositoryOf(url);
    ASSERT_FALSE(found) << url;
    EXPECT_EQ(Describe(found.error()).find("hunter2"), std::string::npos) << url;
  }
}

TEST(ShownUrl, HasNoSecrets) {
  for (const auto& [url, shown] : {std::pair("https://u:p@h/a", "https://h/a"),
                                   {"https://t@h/a", "https://h/a"},
                                   {"ssh://u:p@h/a", "ssh://u@h/a"},
                                   {"ssh://git@h:22/a", "ssh://git@h:22/a"},
                                   {"git@h:a/b", "git@h:a/b"},
                                   {"u:p@h/a", "h/a"},
                                   {"https://h/a@b", "https://h/a@b"},
                                   {"https://h/a?t=p", "https://h/a?..."},
                                   {"/srv/a.git", "/srv/a.git"},
                                   {"a\n", "a\\x0a"}}) {
    EXPECT_EQ(ShownUrl(url), shown) << url;
  }
}

TEST(ForgeSettings, AnApiIsABaseUrlWithoutCredentials) {
  const auto settings = [](const char* api) {
    Place place;
    place.settings = {{"maco.forge.h.test.provider", "gitea", "global"},
                      {"maco.forge.h.test.api", api, "global"}};
    return ForgeOf(place, "h.test/acme/app");
  };
  EXPECT_EQ(settings("https://h.test/api/v1/")->api, "https://h.test/api/v1");
  EXPECT_TRUE(settings("http://127.0.0.1:8080/api"));
  for (const char* api :
       {"https://u:hunter2@h.test/api", "https://hunter2@h.test", "u:hunter2@h.test/api",
        "https://h.test/api?token=hunter2", "https://h.test/#hunter2", "http://u:hunter2@x/"}) {
    const auto refused = settings(api);
    ASSERT_FALSE(refused) << api;
    EXPECT_EQ(refused.error().code, Code::kInvalid);
    EXPECT_EQ(Describe(refused.error()).find("hunter2"), std::string::npos);
    EXPECT_EQ(refused.error().remedy.find("hunter2"), std::string::npos);
  }
  EXPECT_FALSE(settings("http://example.org/api"));
  EXPECT_FALSE(settings("example.org/api"));
}

TEST(AllowedUrl, HttpsAndThisHost) {
  for (const char* url : {"https://api.github.com/user", "http://127.0.0.1:1/x",
                          "http://localhost/x", "http://[::1]:8080/", "HTTPS://x/"}) {
    EXPECT_TRUE(IsAllowedUrl(url)) << url;
  }
  for (const char* url :
       {"", "https://", "http://example.org/", "http://127.0.0.1.example.org/",
        "http://127.0.0.1@x/", "https://u@x/", "http://localhostx/", "ftp://127.0.0.1/",
        "file:///etc/passwd", "https://x/a b", "https://x/\n", "http://127.0.0.2/", "//x/y"}) {
    EXPECT_FALSE(IsAllowedUrl(url)) << url;
  }
}

TEST(Origin, EndsBeforeThePath) {
  EXPECT_EQ(OriginOf("https://API.x:443/a?b"), "https://api.x:443");
  EXPECT_EQ(OriginOf("https://x?b=https://y/"), "https://x");
  EXPECT_EQ(OriginOf("https://x#y/"), "https://x");
  EXPECT_EQ(OriginOf("/relative"), "");
}

TEST(Encoding, EverythingThatCouldEndAPart) {
  EXPECT_EQ(Encoded("a/b c?&#%+\n"), "a%2Fb%20c%3F%26%23%25%2B%0A");
  EXPECT_EQ(Encoded("Az09-._~"), "Az09-._~");
  EXPECT_EQ(Encoded("\xc3\xa9"), "%C3%A9");
}

}  // namespace
}  // namespace maco::effect

// URLs: the repository of a forge that one names, what may be asked, origins, encoding.
// Contract under test: maco-effect/place.h, maco-effect/forge/http.h.
#include <gtest/gtest.h>

#include "maco-effect/forge/http.h"
#include "maco-effect/place.h"

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

// What a status and headers of a forge mean: certain refusals, times to wait, pages.
// Contract under test: maco-effect/forge/answers.h.
#include "maco-effect/forge/answers.h"

#include <gtest/gtest.h>

#include "maco-effect/forge/http.h"

namespace maco::effect {
namespace {

constexpr std::uint64_t kNow = 1'700'000'000'000'000;
constexpr std::uint64_t kSecond = 1'000'000;

HttpResponse With(unsigned status, std::map<std::string, std::string> headers,
                  std::string body = "") {
  return {status, std::move(headers), std::move(body)};
}

TEST(Answers, OnlyWhatCertainlyDidNothingIsANo) {
  for (const unsigned status : {301U, 302U, 307U, 308U, 400U, 401U, 403U, 404U, 405U, 409U, 410U,
                                413U, 415U, 422U, 423U, 429U, 451U}) {
    EXPECT_TRUE(IsDefiniteNo(status)) << status;
  }
  for (const unsigned status :
       {0U,   100U, 101U, 200U, 201U, 202U, 204U, 299U, 300U, 303U, 304U, 407U,
        408U, 418U, 425U, 499U, 500U, 501U, 502U, 503U, 504U, 520U, 599U}) {
    EXPECT_FALSE(IsDefiniteNo(status)) << status;
  }
}

TEST(Answers, RetryAfterCountsBeforeTheLimitOfTheHour) {
  const auto response = With(
      403,
      {{"retry-after", "7"}, {"x-ratelimit-remaining", "0"}, {"x-ratelimit-reset", "1800000000"}});
  EXPECT_EQ(WaitUntil(response, kNow), kNow + 7 * kSecond);
}

TEST(Answers, TheLimitOfTheHourEndsAtItsReset) {
  const auto until = [](const char* remaining, const char* reset) {
    return WaitUntil(
        With(403, {{"x-ratelimit-remaining", remaining}, {"x-ratelimit-reset", reset}}), kNow);
  };
  EXPECT_EQ(until("0", "1700000050"), kNow + 50 * kSecond);
  EXPECT_EQ(until("1", "1700000050"), 0U);
  EXPECT_EQ(until("0", "soon"), 0U);
  // A reset in a far future does not keep an effect for years.
  EXPECT_LE(until("0", "99999999999"), kNow + 86'400 * kSecond);
}

TEST(Answers, ALimitWithoutATimeIsAMinute) {
  EXPECT_EQ(WaitUntil(With(429, {}), kNow), kNow + 60 * kSecond);
  EXPECT_EQ(WaitUntil(With(429, {{"retry-after", "-1"}}), kNow), kNow + 60 * kSecond);
  EXPECT_EQ(WaitUntil(With(429, {{"retry-after", "Wed, 21 Oct 2026 07:28:00 GMT"}}), kNow),
            kNow + 60 * kSecond);
  EXPECT_EQ(WaitUntil(With(403, {}, "You have exceeded a secondary rate limit"), kNow),
            kNow + 60 * kSecond);
  EXPECT_LE(WaitUntil(With(429, {{"retry-after", "18446744073709551615"}}), kNow),
            kNow + 86'400 * kSecond);
}

TEST(Answers, OtherRefusalsDoNotWait) {
  EXPECT_EQ(WaitUntil(With(403, {}), kNow), 0U);
  EXPECT_EQ(WaitUntil(With(422, {{"retry-after", "7"}}), kNow), 0U);
  EXPECT_EQ(WaitUntil(With(500, {{"retry-after", "7"}}), kNow), 0U);
}

TEST(Answers, ARefusalIsOneLineWithoutControlCharacters) {
  const auto error = RefusalOf(
      "host", With(422, {}, R"({"message": "a\nb\u001b[31m", "errors": [{"message": "c"}]})"));
  EXPECT_EQ(error.message.find('\n'), std::string::npos);
  EXPECT_EQ(error.message.find('\x1b'), std::string::npos);
  EXPECT_NE(error.message.find("422"), std::string::npos);
  EXPECT_NE(error.message.find(": c"), std::string::npos);
  for (const char* body : {"", "<html>", "[]", "{", R"({"message": 7})", R"({"errors": [[[]]]})"}) {
    EXPECT_NE(RefusalOf("host", With(400, {}, body)).message.find("400"), std::string::npos);
  }
}

TEST(Answers, AnotherPageFollowsByTheLink) {
  const auto more = [](const char* link) {
    return ReadAnswer(With(200, {{"link", link}}, "[]"), true)->more;
  };
  EXPECT_TRUE(more(R"(<https://x/?page=2>; rel="next", <https://x/?page=9>; rel="last")"));
  EXPECT_FALSE(more(R"(<https://x/?page=1>; rel="prev")"));
  EXPECT_FALSE(more(""));
}

TEST(Answers, WhatIsNotJsonIsAnError) {
  for (const char* body : {"", "<html>", "{", "[1,", "\xff"}) {
    EXPECT_FALSE(ReadAnswer(With(200, {}, body), true)) << body;
    EXPECT_TRUE(ReadAnswer(With(404, {}, body), false)) << body;
  }
  EXPECT_FALSE(ReadAnswer(With(200, {}, std::string(100'000, '[')), true));
}

TEST(Answers, BodiesComeBackWithOtherLineEnds) {
  EXPECT_EQ(PlainBody("a\r\nb\r\n\r\n"), "a\nb");
  EXPECT_EQ(PlainBody("a\rb \t\n"), "a\rb");
  EXPECT_EQ(PlainBody(" \n"), "");
  EXPECT_EQ(PlainBody("  a"), "  a");
}

TEST(Answers, Dates) {
  EXPECT_EQ(HttpDate("Sun, 06 Nov 1994 08:49:37 GMT"), 784'111'777 * kSecond);
  for (const char* text : {"", "Sun, 06 Nov 1994", "1994-11-06", "Sun, 06 Nov 1994 08:49:37 GMT x",
                           "Sun, 06 Nov 1901 08:49:37 GMT"}) {
    EXPECT_EQ(HttpDate(text), 0U) << text;
  }
}

}  // namespace
}  // namespace maco::effect

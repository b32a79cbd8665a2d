// What a forge's response means before its content is read: status classes, pages, times to wait.
// Sources: RFC 9110, RFC 8288 (Link), RFC 6585 (429), GitHub's rate limit headers. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "libcommon/auth/json.h"
#include "libcommon/base/result.h"
#include "maco-effect/forge/http.h"

namespace maco::effect {

struct Answer {
  unsigned status = 0;
  Json json;
  bool more = false;          // another page follows
  std::uint64_t date_us = 0;  // the server's clock
};

bool IsGood(unsigned status);      // 200 to 299
bool IsGone(unsigned status);      // 404, 410
bool IsRedirect(unsigned status);  // 301, 302, 307, 308
// Whether a request with that answer was certainly not carried out. A timeout, a gateway's words or
// a failure of the server say nothing.
bool IsDefiniteNo(unsigned status);

// Parses the body if `parse`. Errors: kInvalid, kLimit.
Result<Answer> ReadAnswer(const HttpResponse& response, bool parse);

// In one line: status, the forge's own message, what to do.
Error RefusalOf(const std::string& host, const HttpResponse& response);

// When a refusal for haste ends, by Retry-After or x-ratelimit-reset; 0 if it is none.
std::uint64_t WaitUntil(const HttpResponse& response, std::uint64_t now_us);

// As it was sent: forges give back other line ends, and blanks at the end.
std::string PlainBody(const std::string& body);

std::string Lower(std::string text);

}  // namespace maco::effect

// One HTTP exchange by libcurl, which is loaded when the first one is made.
// Sources: libcurl's manual (CURLOPT_FRESH_CONNECT, CURLINFO_REQUEST_SIZE), RFC 9110.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libcommon/base/result.h"

namespace maco::effect {

struct HttpRequest {
  std::string method;  // "GET", "POST"
  std::string url;     // https; http for a loopback host only
  std::vector<std::string> headers;
  std::string body;
};

struct HttpResponse {
  unsigned status = 0;
  std::map<std::string, std::string> headers;  // names in lower case, the last of each
  std::string body;
};

// An exchange that gave no whole response.
struct HttpFailure {
  bool sent = true;  // bytes of the request may have left
  std::string reason;
};

struct HttpResult {
  bool whole = false;
  HttpResponse response;
  HttpFailure failure;
};

struct HttpLimits {
  std::chrono::milliseconds connect{30'000};
  std::chrono::milliseconds total{120'000};
  std::size_t body_bytes = std::size_t{16} << 20U;
  std::string ca_file;  // instead of the system's; empty: those
};

// Over a connection of its own, without redirects, cookies, netrc or a second attempt: a request
// that changes something on a connection that was used before can be applied twice. A proxy of the
// environment is used for https, as curl has it; http goes to this host, to no proxy. Errors:
// kUnsupported (no libcurl), kInvalid (a URL that is neither https nor loopback).
Result<HttpResult> Exchange(const HttpRequest& request, const HttpLimits& limits);

// Whether `url` may be asked: https, or http to this host.
bool IsAllowedUrl(const std::string& url);

// "https://host:port" of a URL, in lower case.
std::string OriginOf(const std::string& url);

// As in a path or a query: everything but unreserved characters by %XX.
std::string Encoded(const std::string& text);

// Microseconds since 1970 of "Sun, 06 Nov 1994 08:49:37 GMT"; 0 if it is none.
std::uint64_t HttpDate(const std::string& text);

}  // namespace maco::effect

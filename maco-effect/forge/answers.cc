// Status codes and headers.
// Contract: maco-effect/forge/answers.h.
#include "maco-effect/forge/answers.h"

#include <algorithm>
#include <array>

#include "libcommon/auth/foreign_json.h"
#include "libcommon/base/clock.h"
#include "libcommon/base/text.h"
#include "libcommon/cli/output.h"
#include "libcommon/store/json_members.h"

namespace maco::effect {
namespace {

constexpr std::size_t kMaxAnswer = std::size_t{16} << 20U;
constexpr std::uint64_t kSecond = 1'000'000;
constexpr unsigned kUnauthorized = 401;
constexpr unsigned kForbidden = 403;
constexpr unsigned kTooMany = 429;

std::string HeaderOf(const HttpResponse& response, const char* name) {
  const auto header = response.headers.find(name);
  return header == response.headers.end() ? "" : header->second;
}

// The forge's own words: "message" of GitHub and Gitea, which may be a list or an object in GitLab,
// and the first of "errors".
std::string MessageOf(const std::string& body) {
  const auto json = ParseForeignJson(body, kMaxAnswer);
  if (!json || !json->is_object()) {
    return {};
  }
  std::string out;
  for (const char* name : {"message", "error", "errors"}) {
    const Json* member = Member(*json, name);
    while (member != nullptr && member->is_array() && !member->empty()) {
      member = &member->front();
    }
    if (member != nullptr && member->is_object()) {
      const Json* inner = Member(*member, "message");
      member = inner != nullptr ? inner : Member(*member, "field");
    }
    const auto* text = member != nullptr ? member->get_ptr<const std::string*>() : nullptr;
    if (text != nullptr) {
      out += (out.empty() ? "" : ": ") + *text;
    }
  }
  constexpr std::size_t kMost = 300;
  return EscapeControl(out.substr(0, kMost));
}

}  // namespace

bool IsGood(unsigned status) { return status >= 200 && status < 300; }

bool IsGone(unsigned status) { return status == 404 || status == 410; }

bool IsRedirect(unsigned status) {
  return status == 301 || status == 302 || status == 307 || status == 308;
}

bool IsDefiniteNo(unsigned status) {
  constexpr std::array<unsigned, 18> kNo = {400, 401, 403, 404, 405, 406, 409, 410, 411,
                                            412, 413, 414, 415, 422, 423, 428, 429, 451};
  return IsRedirect(status) || std::ranges::find(kNo, status) != kNo.end();
}

Result<Answer> ReadAnswer(const HttpResponse& response, bool parse) {
  Answer out;
  out.status = response.status;
  out.date_us = HttpDate(HeaderOf(response, "date"));
  if (out.date_us == 0) {
    out.date_us = WallMicros();
  }
  out.more = HeaderOf(response, "link").find("rel=\"next\"") != std::string::npos;
  if (parse) {
    MACO_ASSIGN(out.json, ParseForeignJson(response.body, kMaxAnswer));
  }
  return out;
}

std::uint64_t WaitUntil(const HttpResponse& response, std::uint64_t now_us) {
  if (response.status != kForbidden && response.status != kTooMany) {
    return 0;
  }
  const auto after = ParseUint(HeaderOf(response, "retry-after"));
  constexpr std::uint64_t kDay = 86'400;
  if (after) {
    return now_us + std::min(*after, kDay) * kSecond;
  }
  const auto reset = ParseUint(HeaderOf(response, "x-ratelimit-reset"));
  if (HeaderOf(response, "x-ratelimit-remaining") == "0" && reset) {
    return std::min(*reset, now_us / kSecond + kDay) * kSecond;
  }
  // GitHub's own rule for a secondary limit without a time.
  constexpr std::uint64_t kUnsaid = 60;
  const bool secondary = response.body.find("secondary rate limit") != std::string::npos;
  return response.status == kTooMany || secondary ? now_us + kUnsaid * kSecond : 0;
}

Error RefusalOf(const std::string& host, const HttpResponse& response) {
  const std::string words = MessageOf(response.body);
  std::string message =
      host + " answers " + std::to_string(response.status) + (words.empty() ? "" : ": " + words);
  std::string remedy;
  const std::uint64_t until = WaitUntil(response, WallMicros());
  if (until != 0) {
    remedy = "not before " + UtcTime(until);
  } else if (response.status == kUnauthorized || response.status == kForbidden) {
    remedy = "check the token and what it may do";
  } else if (IsRedirect(response.status)) {
    message += " (the repository was renamed or moved)";
    remedy = "name it as the forge does now";
  }
  return MakeError(Code::kRefused, std::move(message), std::move(remedy));
}

std::string PlainBody(const std::string& body) {
  std::string out;
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (body[i] != '\r' || i + 1 == body.size() || body[i + 1] != '\n') {
      out += body[i];
    }
  }
  const std::size_t end = out.find_last_not_of(" \n\t");
  return out.substr(0, end == std::string::npos ? 0 : end + 1);
}

std::string Lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

}  // namespace maco::effect

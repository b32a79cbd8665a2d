// Identity by hashing canonical JSON; checks of texts that a forge would not keep as they are.
// Contract: maco-effect/request.h.
#include "maco-effect/request.h"

#include <algorithm>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/byte_codec.h"
#include "libcommon/base/clock.h"
#include "libcommon/base/text.h"
#include "libcommon/store/json_members.h"
#include "maco-effect/ref_name.h"

namespace maco::effect {
namespace {

constexpr std::size_t kMaxTitleBytes = 255;
constexpr std::size_t kMaxBodyBytes = 65'000;  // GitHub takes 65536 characters
constexpr std::size_t kMaxLabels = 100;
constexpr std::size_t kMaxNameBytes = 255;
constexpr std::size_t kMaxEvidence = 512;  // 34 KiB of digests
constexpr std::size_t kIdBytes = kEffectIdDigits / 2;
constexpr char kMarkerWord[] = "maco-effect-";

std::string ShortHex(std::span<const std::uint8_t> bytes) {
  return ToHex(bytes.subspan(0, kIdBytes));
}

// The canonical form of a document of ours exists: all its texts are UTF-8, its depth is small.
std::string Canonical(const Json& document) { return Canonicalize(document).value_or(""); }

std::string HashOf(const Json& document) { return ShortHex(Sha256(AsBytes(Canonical(document)))); }

Json Target(const Request& request) {
  if (request.operation == "push") {
    return {{"ref", request.ref}};
  }
  if (request.operation == "pr") {
    return {{"head", request.head}, {"base", request.base}};
  }
  return {{"number", request.number}, {"pr", request.on_pr}};
}

Json Payload(const Request& request) {
  return {{"oid", request.oid},
          {"expected", request.expected},
          {"title", request.title},
          {"body", request.body},
          {"draft", request.draft},
          {"labels", request.labels},
          {"candidate", request.candidate},
          {"evidence", request.evidence}};
}

Result<void> CheckText(const std::string& text, const std::string& what, std::size_t limit,
                       bool lines) {
  if (!IsUtf8(text)) {
    return Fail(Code::kInvalid, "the " + what + " is not UTF-8");
  }
  if (text.size() > limit) {
    return Fail(Code::kInvalid,
                "the " + what + " is longer than " + std::to_string(limit) + " bytes");
  }
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < ' ' && !(lines && (c == '\n' || c == '\t'))) {
      return Fail(Code::kInvalid, "the " + what + " holds a control character");
    }
  }
  return {};
}

// What a forge would cut off, and then differ from what was asked for.
Result<void> CheckTitle(const std::string& title) {
  MACO_TRY(CheckText(title, "title", kMaxTitleBytes, false));
  if (title.empty() || title.front() == ' ' || title.back() == ' ') {
    return Fail(Code::kInvalid, title.empty() ? "there is no title" : "the title has blanks around",
                "give one with --title");
  }
  return {};
}

Result<void> CheckBody(const Request& request) {
  MACO_TRY(CheckText(request.body, "body", kMaxBodyBytes, true));
  if (request.body.find(kMarkerWord) != std::string::npos) {
    return Fail(Code::kInvalid, std::string("the body holds '") + kMarkerWord +
                                    "', which marks what was sent by git maco");
  }
  if (request.operation == "comment" &&
      request.body.find_first_not_of(" \n\t") == std::string::npos) {
    return Fail(Code::kInvalid, "the comment is empty", "give one with --body or --body-file");
  }
  if (request.transport == "gitlab") {
    std::size_t number = 0;
    for (const auto line : Split(request.body, '\n')) {
      ++number;
      const std::size_t start = line.find_first_not_of(" \t");
      if (start != std::string_view::npos && line[start] == '/') {
        return Fail(Code::kInvalid,
                    "line " + std::to_string(number) +
                        " of the body starts with '/', which GitLab would execute",
                    "quote it with '> ' or put it between backquotes");
      }
    }
  }
  return {};
}

bool Text(const Json& document, const char* name, std::string& out) {
  const std::string* text = TextMember(document, name);
  if (text != nullptr) {
    out = *text;
  }
  return text != nullptr;
}

bool List(const Json& document, const char* name, std::vector<std::string>& out) {
  const Json* list = Member(document, name);
  if (list == nullptr || !list->is_array()) {
    return false;
  }
  for (const auto& item : *list) {
    const auto* text = item.get_ptr<const std::string*>();
    if (text == nullptr) {
      return false;
    }
    out.push_back(*text);
  }
  return true;
}

bool Flag(const Json& document, const char* name, bool& out) {
  const Json* member = Member(document, name);
  const auto* value = member != nullptr ? member->get_ptr<const bool*>() : nullptr;
  out = value != nullptr && *value;
  return value != nullptr;
}

}  // namespace

std::string RepositoryPath(const Request& request) {
  return request.repository.substr(request.repository.find('/') + 1);
}

std::string TargetOf(const Request& request) {
  if (request.operation == "push") {
    return request.ref;
  }
  if (request.operation == "pr") {
    return request.head + " -> " + request.base;
  }
  if (request.operation == "comment") {
    return std::string(request.on_pr && request.transport == "gitlab" ? "!" : "#") +
           std::to_string(request.number);
  }
  return "new";
}

std::string ContentDigest(const std::string& title, const std::string& body,
                          const std::string& head, const std::string& base) {
  const Json document = {{"title", title}, {"body", body}, {"head", head}, {"base", base}};
  return ToHex(Sha256(AsBytes(Canonical(document))));
}

std::string MarkerText(const std::string& marker) {
  return std::string("<!-- ") + kMarkerWord + marker + " -->";
}

std::string MarkedBody(const Request& request, const std::string& marker) {
  std::string body = request.body;
  while (!body.empty() && (body.back() == '\n' || body.back() == ' ' || body.back() == '\t')) {
    body.pop_back();
  }
  return (body.empty() ? "" : body + "\n\n") + MarkerText(marker);
}

Effect PlanOf(Request& request, const Key& key, const std::string& repository_id) {
  Json subject = {{"schema", "maco.effect-identity/1"}, {"state", repository_id},
                  {"transport", request.transport},     {"provider", request.api},
                  {"repository", request.repository},   {"operation", request.operation},
                  {"target", Target(request)}};
  if (request.action.empty()) {
    Json derived = subject;
    derived["payload"] = Payload(request);
    request.action = "auto-" + HashOf(derived).substr(0, kIdBytes);
  }
  subject["action"] = request.action;
  Effect effect;
  effect.subject = HashOf(subject);
  subject["payload"] = Payload(request);
  effect.id = HashOf(subject);
  effect.operation = request.operation;
  effect.transport = request.transport;
  effect.repository = request.repository;
  effect.target = TargetOf(request);
  effect.action = request.action;
  effect.state = "planned";
  effect.planned_us = WallMicros();
  effect.candidate = request.candidate;
  effect.evidence = request.evidence;
  if (request.operation != "push") {
    effect.marker = ShortHex(ComputeMac(key, "maco.effect-marker/1", {AsBytes(effect.id)}));
    effect.content_sha256 = ContentDigest(request.title, MarkedBody(request, effect.marker),
                                          request.head, request.base);
  }
  return effect;
}

Result<void> CheckRequest(const Request& request) {
  if (request.evidence.size() > kMaxEvidence) {
    return Fail(Code::kLimit, "more than " + std::to_string(kMaxEvidence) + " runs wrote the lane",
                "capture its result in a new lane");
  }
  MACO_TRY(CheckText(request.action, "action", kMaxNameBytes, false));
  if (request.operation == "push") {
    return {};
  }
  if (request.operation != "comment") {
    MACO_TRY(CheckTitle(request.title));
  }
  if (request.labels.size() > kMaxLabels) {
    return Fail(Code::kInvalid, "more than " + std::to_string(kMaxLabels) + " labels");
  }
  for (const auto& label : request.labels) {
    MACO_TRY(CheckText(label, "label", kMaxNameBytes, false));
    if (label.empty() || label.find(',') != std::string::npos) {
      return Fail(Code::kInvalid, "a label is empty or holds a comma: '" + label + "'");
    }
  }
  for (const auto* branch : {&request.head, &request.base}) {
    MACO_TRY(CheckText(*branch, "branch", kMaxNameBytes, false));
    if (request.operation == "pr" &&
        (branch->starts_with('-') || !IsRefName("refs/heads/" + *branch))) {
      return Fail(Code::kInvalid, "'" + *branch + "' is no name of a branch",
                  "a pull request needs --head BRANCH and --base BRANCH");
    }
  }
  const std::string draft = request.transport == "gitlab"  ? "Draft:"
                            : request.transport == "gitea" ? "WIP:"
                                                           : "";
  if (request.operation == "pr" && !draft.empty() && request.title.starts_with(draft)) {
    return Fail(Code::kInvalid, "the title begins with '" + draft + "', which makes it a draft",
                "leave that out and give --draft");
  }
  if (request.operation == "pr" && request.head == request.base) {
    return Fail(Code::kInvalid, "head and base are the same branch");
  }
  return CheckBody(request);
}

Json Encode(const Request& request) {
  return {{"v", 1},
          {"operation", request.operation},
          {"transport", request.transport},
          {"api", request.api},
          {"repository", request.repository},
          {"action", request.action},
          {"ref", request.ref},
          {"oid", request.oid},
          {"expected", request.expected},
          {"title", request.title},
          {"body", request.body},
          {"head", request.head},
          {"base", request.base},
          {"draft", request.draft},
          {"labels", request.labels},
          {"number", request.number},
          {"on_pr", request.on_pr},
          {"candidate", request.candidate},
          {"evidence", request.evidence}};
}

Result<Request> DecodeRequest(const Json& document) {
  Request out;
  const auto number = UintMember(document, "number");
  const bool whole =
      Text(document, "operation", out.operation) && Text(document, "transport", out.transport) &&
      Text(document, "api", out.api) && Text(document, "repository", out.repository) &&
      Text(document, "action", out.action) && Text(document, "ref", out.ref) &&
      Text(document, "oid", out.oid) && Text(document, "expected", out.expected) &&
      Text(document, "title", out.title) && Text(document, "body", out.body) &&
      Text(document, "head", out.head) && Text(document, "base", out.base) &&
      Flag(document, "draft", out.draft) && List(document, "labels", out.labels) && number &&
      Flag(document, "on_pr", out.on_pr) && Text(document, "candidate", out.candidate) &&
      List(document, "evidence", out.evidence);
  if (!whole) {
    return Fail(Code::kCorrupt, "the request of an effect has not the form of one",
                "git maco journal verify store/effects");
  }
  out.number = *number;
  return out;
}

}  // namespace maco::effect

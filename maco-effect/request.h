// What is asked of a remote: one request, its identity, its marker, its stored form.
// Contract: docs/formats/effect.md ("Identity", "Request"). Requirement EFF-01.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libcommon/auth/json.h"
#include "libcommon/auth/mac.h"
#include "libcommon/base/result.h"
#include "libcommon/effect/effect_row.h"

namespace maco::effect {

struct Request {
  std::string operation;   // "push", "pr", "issue", "comment"
  std::string transport;   // "git", "github", "gitlab", "gitea"
  std::string api;         // base URL of the forge's API, no slash at its end; empty for git
  std::string repository;  // git: the URL; else "host/owner/name"
  std::string action;      // of the caller: "ID" or "ID@REV"

  // push
  std::string ref;  // full name
  std::string oid;  // what it shall be
  std::string
      expected;  // oid that it must have before, "none", or empty: as found, if it is behind

  // pr, issue, comment
  std::string title;
  std::string body;  // as the caller gave it, without the marker
  std::string head;  // branch
  std::string base;  // branch
  bool draft = false;
  std::vector<std::string> labels;  // ascending
  std::uint64_t number = 0;         // of what is commented on
  bool on_pr = false;               // that is a pull request

  // A lane's result (EFF-07)
  std::string candidate;
  std::vector<std::string> evidence;

  bool operator==(const Request&) const = default;
};

// "owner/name" of "host/owner/name".
std::string RepositoryPath(const Request& request);

std::string TargetOf(const Request& request);  // for people and for the row

// SHA-256 of title, body, head and base: what a receipt is compared with (EFF-04).
std::string ContentDigest(const std::string& title, const std::string& body,
                          const std::string& head, const std::string& base);

// The body with its marker, as it is sent.
std::string MarkedBody(const Request& request, const std::string& marker);
std::string MarkerText(const std::string& marker);  // the comment that holds it

// A row for it, planned now, with id, subject and marker. `key` makes markers that nobody else can
// foresee. An empty action becomes one that is derived from the request.
Effect PlanOf(Request& request, const Key& key, const std::string& repository_id);

// Errors: kInvalid, naming what a forge would change or execute, or what is too long.
Result<void> CheckRequest(const Request& request);

Json Encode(const Request& request);
Result<Request> DecodeRequest(const Json& document);  // kCorrupt

}  // namespace maco::effect

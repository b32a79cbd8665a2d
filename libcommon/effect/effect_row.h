// One effect as the store "effects" has it: what was asked for, how far it came, its receipt.
// Contract: docs/formats/effect.md. Requirements EFF-01, EFF-02, EFF-07.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libcommon/auth/json.h"
#include "libcommon/base/result.h"

namespace maco {

// What the provider has, by its own words.
struct Receipt {
  std::string id;            // "issue/17", "comment/2201", "refs/heads/x@OID"
  std::string url;           // for people, may be empty
  std::uint64_t number = 0;  // of a pull request or an issue

  bool operator==(const Receipt&) const = default;
};

struct Effect {
  std::string id;         // 32 hex digits, see docs/formats/effect.md ("Identity")
  std::string subject;    // 32 hex: the identity without the payload
  std::string operation;  // "push", "pr", "issue", "comment"
  std::string transport;  // "git", "github", "gitlab", "gitea"
  std::string repository;
  std::string target;
  std::string action;
  // "planned", "started", "observed", "completed"; "failed": certainly not applied; "abandoned": a
  // person gave it up.
  std::string state;
  std::string reason;  // why it is not completed, or what was last seen of it
  std::uint64_t attempts = 0;
  std::uint64_t planned_us = 0;
  std::uint64_t started_us = 0;
  std::uint64_t observed_us = 0;
  std::uint64_t completed_us = 0;
  std::uint64_t since_us = 0;       // the provider's clock before it was called
  std::uint64_t not_before_us = 0;  // failed: the provider asked to wait that long
  std::string actor_id;             // who we are there
  std::string repository_id;        // the provider's number of it
  std::string marker;               // 32 hex; empty for a push
  std::string content_sha256;       // of title, body, head and base as requested
  Receipt receipt;
  std::string candidate;              // of a lane; empty: of none
  std::vector<std::string> evidence;  // SHA-256 of the evidence of each run behind it (WT-08)
  std::string note;                   // the operator's word

  bool operator==(const Effect&) const = default;
  bool open() const { return state == "planned" || state == "started" || state == "observed"; }
};

inline constexpr std::size_t kEffectIdDigits = 32;
inline constexpr char kGitTransport[] = "git";  // Effect::transport of a push

std::string EffectKey(std::string_view id);
std::string EffectRequestKey(
    std::string_view id);  // of the row that holds the request while needed

std::string EffectEvidenceKey(std::string_view id);  // of the row that holds Effect::evidence

// All of it, as an archive has it.
Json Encode(const Effect& effect);
// The row of an effect that is begun: without its evidence. Errors: kLimit (one that ends it might
// not fit `bytes`).
Result<Json> EncodeFirstRow(const Effect& effect, std::size_t bytes);
// The row of a later step, of at most `bytes`: an effect that was begun can always be finished, so
// what is there for people (the receipt's URL, reason, note) is cut if need be.
Result<Json> EncodeLaterRow(Effect effect, std::size_t bytes);
// An evidence row; its members. Errors: kCorrupt.
Json EncodeEvidence(const std::vector<std::string>& evidence);
Result<std::vector<std::string>> DecodeEvidence(const std::string& key, const Json& row);

// Errors: kCorrupt (a member is missing or of another form), kUnsupported (a later version).
Result<Effect> DecodeEffect(const std::string& key, const Json& row);

}  // namespace maco

// The rows of the store "lanes": values, and their JSON.
// Contract: docs/formats/lane.md. Requirements WT-01 to WT-08.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libcommon/auth/json.h"
#include "libcommon/base/result.h"

namespace maco {

inline constexpr char kLaneStore[] = "lanes";
inline constexpr char kLanesName[] = "lanes";  // directory in the state root

bool IsLaneName(std::string_view text);

struct Lane {
  std::string name;
  std::string id;       // 32 hex; another one when the name is used again
  std::string kind;     // "linked", "private"
  std::string path;     // absolute
  std::string git_dir;  // of the worktree
  std::string branch;   // full name of the ref
  std::string base;     // commit
  std::string format;   // "sha1", "sha256"
  std::string state;    // "creating", "ready", "removed"
  std::uint64_t created_us = 0;
  std::uint64_t changed_us = 0;  // when its state became what it is
  std::uint64_t uid = 0;
  std::uint64_t device = 0;  // of the directory
  std::uint64_t inode = 0;
  std::string tainted;    // why; empty: not
  std::string candidate;  // the newest; empty: none
  std::string trash;      // where it is after it was removed
};

struct Claim {
  std::string id;
  std::string lane;
  std::string lane_id;
  std::vector<std::string> paths;  // canonical
  std::uint64_t created_us = 0;
  std::uint64_t renewed_us = 0;
  std::uint64_t expires_us = 0;  // 0: never
  std::uint64_t uid = 0;
  std::string supersedes;  // id of a claim that was taken over
};

struct Intent {
  std::string id;
  std::string lane;
  std::string lane_id;
  std::string kind;  // "path", "module", "symbol"
  std::vector<std::string> what;
  std::string reason;
  std::uint64_t created_us = 0;
  std::uint64_t uid = 0;
};

struct Candidate {
  std::string id;
  std::string lane;
  std::string lane_id;
  std::string state;  // "unread", "read", "accepted", "rejected", "applied"
  std::string base;
  std::string tree;
  std::string document_sha256;
  std::string patch_sha256;
  std::uint64_t captured_us = 0;
  std::uint64_t read_us = 0;
  std::uint64_t decided_us = 0;
  std::uint64_t decided_uid = 0;
  std::string note;
  std::string unverified;  // the operator's word for runs that do not prove it (WT-08)
  std::uint64_t applied_us = 0;
  std::string applied_to;
  std::string applied_commit;
};

struct LaneRun {  // writer/..., validation/...
  std::string run;
  std::string lane_id;
  std::string candidate;  // of a validation
  std::uint64_t time_us = 0;
};

struct Apply {
  std::string id;
  std::string candidate;
  std::string lane;
  std::string mode;  // "commit", "index", "worktree"
  std::string worktree;
  std::string git_dir;
  std::string ref;     // that --commit moves; empty: a detached HEAD
  std::string head;    // commit before
  std::string commit;  // that was made; empty without --commit
  std::uint64_t uid = 0;
  std::uint64_t started_us = 0;
  std::uint64_t undo_us = 0;  // when undoing it began; 0: it did not
};

std::string LaneKey(const std::string& name);
std::string ClaimKey(const std::string& id);
std::string IntentKey(const std::string& id);
std::string CandidateKey(const std::string& id);
std::string WriterKey(const std::string& lane_id, const std::string& run);
std::string ValidationKey(const std::string& candidate, const std::string& run);
std::string ApplyKey(const std::string& id);

// A path, or another text that need not be UTF-8, as JSON and back.
Json EncodeBytes(const std::string& bytes);
Result<std::string> DecodeBytes(const Json& value);  // kCorrupt

Json Encode(const Lane& lane);
Json Encode(const Claim& claim);
Json Encode(const Intent& intent);
Json Encode(const Candidate& candidate);
Json Encode(const LaneRun& run);
Json Encode(const Apply& apply);

// Errors of all: kCorrupt (a member is missing or of another form), kUnsupported (a later version).
Result<Lane> DecodeLane(const std::string& key, const Json& row);
Result<Claim> DecodeClaim(const std::string& key, const Json& row);
Result<Intent> DecodeIntent(const std::string& key, const Json& row);
Result<Candidate> DecodeCandidate(const std::string& key, const Json& row);
Result<LaneRun> DecodeLaneRun(const std::string& key, const Json& row);
Result<Apply> DecodeApply(const std::string& key, const Json& row);

}  // namespace maco

// The signed document of a candidate, its file and its patch.
// Contract: docs/formats/lane.md ("The candidate document"). Requirements WT-03, WT-06, WT-08.
#pragma once

#include <string>
#include <vector>

#include "libcommon/auth/state_root.h"
#include "maco-worktree/lane_tree.h"

namespace maco::worktree {

struct RunOfLane {
  std::string run;
  std::string evidence_sha256;  // hex; empty: there is none that counts
  bool publishable = false;
  std::string why_not;  // not in the document
};

struct Risk {
  std::string path;
  std::string risk;
};

struct CandidateDocument {
  std::string lane;
  std::string lane_id;
  std::string format;
  std::string base;
  std::string base_tree;
  std::string tree;
  std::vector<Change> changes;
  std::string patch_sha256;
  std::uint64_t patch_bytes = 0;
  std::vector<RunOfLane> runs;
  std::vector<Risk> risks;
  std::vector<std::string> ignored;
};

// What the runs that wrote a lane show now.
std::vector<RunOfLane> RunsOf(const StateRoot& state, const LaneTable& table,
                              const std::string& lane_id);

// Without schema, epoch and MAC: what the id is made of, and what people get with --json.
Json Describe(const CandidateDocument& document);

std::string CandidateId(const std::string& repository_id, const CandidateDocument& document);

// Puts <id>.json next to <id>.patch in the lane's files, durably. Returns the SHA-256 of the file.
// Errors: kLimit, kIo.
Result<std::string> WriteCandidate(const StateRoot& state, const Directory& files,
                                   const std::string& id, const CandidateDocument& document);

// Verifies file, signature and patch against the row. Errors: kCorrupt, kPermission, kNotFound,
// kIo.
Result<CandidateDocument> ReadCandidate(const StateRoot& state, const Directory& files,
                                        const Candidate& row);

// Writes the patch into the reserved leaf. Fills in hash and size. Errors: kLimit (above 64 MiB, a
// full disk), kPermission (the leaf is not as it was made), kIo.
Result<void> WritePatch(const Directory& files, const std::string& patch,
                        CandidateDocument& document);
// The leaf becomes <id>.patch, and another one is reserved.
Result<void> NamePatch(const Directory& files, const std::string& id);

// The bytes of a patch that ReadCandidate has verified.
Result<std::string> ReadPatch(const Directory& files, const std::string& id);

}  // namespace maco::worktree

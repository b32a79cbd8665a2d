// The view of a candidate, asked for by our own program, and a commit of it.
// Contract: maco-effect/lane_payload.h.
#include "maco-effect/lane_payload.h"

#include <algorithm>
#include <cstdlib>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/text.h"
#include "libcommon/git/git_program.h"
#include "libcommon/git/private_repository.h"
#include "libcommon/lane/lane_registry.h"
#include "libcommon/store/json_members.h"

namespace maco::effect {
namespace {

constexpr char kSchema[] = "maco.candidate-view/1";
constexpr std::uint64_t kSecond = 1'000'000;
constexpr std::size_t kBranchDigits = 12;

Result<std::string> TextIn(const Json& document, const char* name) {
  const std::string* text = document.is_object() ? TextMember(document, name) : nullptr;
  return text != nullptr ? Result<std::string>(*text)
                         : Fail(Code::kInvalid,
                                std::string("the document of a candidate has no '") + name + "'",
                                "pass what 'git maco worktree show NAME --json' prints");
}

Result<Json> AskForView(const Place& place, const std::string& lane) {
  SpawnRequest request;
  MACO_ASSIGN(request.program, SiblingProgram("maco-worktree"));
  request.arguments = {"show", "--stat", "--json", lane};
  request.environment = CleanGitEnvironment();
  for (auto& variable : CallersGitVariables(GitVariables::kDiscoveryAndConfig)) {
    request.environment.push_back(std::move(variable));
  }
  request.directory = place.top();
  request.output_limit = kMaxJsonBytes;
  SpawnResult result;
  MACO_ASSIGN(result, RunProgram(request));
  if (result.signal != 0 || result.exit_status != 0) {
    return Fail(Code::kRefused,
                "the candidate cannot be shown: " + EscapeControl(FirstLine(result.error_output)));
  }
  return ParseJson(result.output, kMaxJsonBytes);
}

Result<void> CheckView(const Json& view, const std::string& lane, const std::string& candidate) {
  std::string now;
  std::string state;
  MACO_ASSIGN(now, TextIn(view, "candidate"));
  MACO_ASSIGN(state, TextIn(view, "state"));
  if (now != candidate) {
    return Fail(Code::kRefused, "lane '" + lane + "' has another candidate now, " + now,
                "git maco worktree show " + lane);
  }
  if (state != "accepted" && state != "applied") {
    return Fail(Code::kRefused, "candidate " + candidate + " is " + state + ", not accepted",
                "git maco worktree accept " + lane);
  }
  const Json* tainted = Member(view, "tainted");
  const Json* unproven = Member(view, "unproven");
  const Json* unverified = Member(view, "unverified");
  if (tainted == nullptr || unproven == nullptr || unverified == nullptr) {
    return Fail(Code::kInvalid, "the view of a candidate is not whole");
  }
  const std::string taint = DecodeBytes(*tainted).value_or("?");
  const std::string doubt = DecodeBytes(*unproven).value_or("?");
  if (!taint.empty()) {
    return Fail(Code::kRefused, "lane '" + lane + "' is tainted: " + EscapeControl(taint));
  }
  if (!doubt.empty() && DecodeBytes(*unverified).value_or("").empty()) {
    return Fail(Code::kRefused, "candidate " + candidate + ": " + EscapeControl(doubt),
                "accept it with --unverified NOTE to take it on your word");
  }
  return {};
}

Result<std::vector<std::string>> EvidenceOf(const Json& view) {
  std::vector<std::string> out;
  const Json* runs = Member(view, "runs");
  if (runs == nullptr || !runs->is_array()) {
    return Fail(Code::kInvalid, "the view of a candidate has no runs");
  }
  for (const auto& run : *runs) {
    std::string evidence;
    MACO_ASSIGN(evidence, TextIn(run, "evidence_sha256"));
    if (!evidence.empty()) {
      out.push_back(std::move(evidence));
    }
  }
  std::ranges::sort(out);
  return out;
}

std::string Variable(const char* name, const std::string& value, const char* otherwise) {
  return std::string(name) + "=" + (value.empty() ? otherwise : value);
}

// The same candidate gives the same commit, whenever and by whom it is asked for.
Result<std::string> MakeCommit(const Place& place, const Candidate& row,
                               const std::string& message) {
  const std::string git_dir = place.repository.common_dir + "/" + kStateRootName + "/" +
                              kLanesName + "/" + row.lane_id + "/gitdir";
  const std::string date = std::to_string(row.captured_us / kSecond) + " +0000";
  const std::string name = place.Setting("user.name");
  const std::string mail = place.Setting("user.email");
  return AskGit(git_dir, {"commit-tree", row.tree, "-p", row.base, "-m", message},
                {Variable("GIT_AUTHOR_NAME", name, "git maco"),
                 Variable("GIT_AUTHOR_EMAIL", mail, "git-maco@localhost"),
                 Variable("GIT_COMMITTER_NAME", name, "git maco"),
                 Variable("GIT_COMMITTER_EMAIL", mail, "git-maco@localhost"),
                 "GIT_AUTHOR_DATE=" + date, "GIT_COMMITTER_DATE=" + date});
}

}  // namespace

Result<LanePayload> TakeLane(const Place& place, const StateRoot& state, const std::string& text) {
  Json given;
  MACO_ASSIGN(given, ParseJson(text, kMaxJsonBytes));
  std::string schema;
  MACO_ASSIGN(schema, TextIn(given, "schema"));
  if (schema != kSchema) {
    return Fail(Code::kInvalid, "the document is a '" + EscapeControl(schema) + "'",
                "pass what 'git maco worktree show NAME --json' prints");
  }
  LanePayload out;
  MACO_ASSIGN(out.lane, TextIn(given, "lane"));
  MACO_ASSIGN(out.candidate, TextIn(given, "candidate"));
  if (!IsLaneName(out.lane)) {
    return Fail(Code::kInvalid, "'" + EscapeControl(out.lane) + "' is no name of a lane");
  }
  Json view;
  MACO_ASSIGN(view, AskForView(place, out.lane));
  MACO_TRY(CheckView(view, out.lane, out.candidate));
  MACO_ASSIGN(out.evidence, EvidenceOf(view));
  LaneTable table;
  MACO_ASSIGN(table, ReadLanes(state));
  const auto row = table.candidates.find(out.candidate);
  if (row == table.candidates.end()) {
    return Fail(Code::kNotFound, "there is no candidate " + EscapeControl(out.candidate));
  }
  out.title = "Changes of lane " + out.lane;
  out.commit = row->second.applied_commit;
  if (out.commit.empty()) {
    MACO_ASSIGN(out.commit,
                MakeCommit(place, row->second, out.title + "\n\nCandidate: " + out.candidate));
  }
  out.branch = "maco/" + out.lane + "/" + out.candidate.substr(0, kBranchDigits);
  out.body = "Candidate " + out.candidate + "\n";
  for (const auto& digest : out.evidence) {
    out.body += "Evidence " + digest + "\n";
  }
  return out;
}

}  // namespace maco::effect

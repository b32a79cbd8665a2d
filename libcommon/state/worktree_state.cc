// HEAD and index by git, trees by their digests.
// Contract: libcommon/state/worktree_state.h.
#include "libcommon/state/worktree_state.h"

#include "libcommon/auth/mac.h"
#include "libcommon/base/byte_codec.h"
#include "libcommon/base/text.h"
#include "libcommon/git/git_program.h"
#include "libcommon/os/spawn.h"
#include "libcommon/state/tree_digest.h"

namespace maco {
namespace {

constexpr std::uint64_t kMaxEntries = 2'000'000;
constexpr std::size_t kMaxGitOutput = std::size_t{256} << 20U;
constexpr std::chrono::minutes kGitTimeout{5};

// Standard output of git for this worktree; empty if git says no and `may_fail`.
Result<std::string> Git(const WorktreePlace& place, std::vector<std::string> arguments,
                        bool may_fail) {
  SpawnRequest request;
  MACO_ASSIGN(request.program, FindGitProgram());
  request.environment = CleanGitEnvironment();
  request.arguments = {"-c",
                       "core.fsmonitor=false",
                       "-c",
                       "core.untrackedCache=false",
                       "-c",
                       "core.hooksPath=/dev/null",
                       "--git-dir=" + place.git_dir};
  if (!place.worktree.empty()) {
    request.arguments.push_back("--work-tree=" + place.worktree);
  }
  request.arguments.insert(request.arguments.end(), arguments.begin(), arguments.end());
  request.directory = place.worktree.empty() ? place.git_dir : place.worktree;
  request.output_limit = kMaxGitOutput;
  request.timeout = kGitTimeout;
  SpawnResult result;
  MACO_ASSIGN(result, RunProgram(request));
  if (result.signal != 0 || result.exit_status != 0) {
    if (may_fail && result.signal == 0) {
      return std::string();
    }
    return Fail(Code::kInvalid, "git " + arguments.front() + " failed: " +
                                    result.error_output.substr(0, result.error_output.find('\n')));
  }
  return result.output;
}

std::string Hex(std::string_view text) { return ToHex(AsBytes(text)); }

std::string Member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Result<std::string> PathMember(const Json& value) {
  const auto bytes = value.is_string() ? FromHex(value.get<std::string>()) : std::nullopt;
  if (!bytes) {
    return Fail(Code::kCorrupt, "a recorded place of a worktree is malformed");
  }
  return std::string(AsText(*bytes));
}

}  // namespace

Json EncodePlace(const WorktreePlace& place) {
  Json roots = Json::array();
  for (const auto& root : place.roots) {
    roots.push_back(Hex(root));
  }
  return {{"git_dir_hex", Hex(place.git_dir)},
          {"worktree_hex", Hex(place.worktree)},
          {"excluded_hex", Hex(place.excluded)},
          {"roots_hex", std::move(roots)}};
}

Result<WorktreePlace> DecodePlace(const Json& value) {
  const bool shaped = value.is_object() && value.contains("git_dir_hex") &&
                      value.contains("worktree_hex") && value.contains("roots_hex") &&
                      value.contains("excluded_hex") && value["roots_hex"].is_array();
  if (!shaped) {
    return Fail(Code::kCorrupt, "a recorded place of a worktree is malformed");
  }
  WorktreePlace place;
  MACO_ASSIGN(place.git_dir, PathMember(value["git_dir_hex"]));
  MACO_ASSIGN(place.worktree, PathMember(value["worktree_hex"]));
  MACO_ASSIGN(place.excluded, PathMember(value["excluded_hex"]));
  for (const auto& root : value["roots_hex"]) {
    std::string path;
    MACO_ASSIGN(path, PathMember(root));
    place.roots.push_back(std::move(path));
  }
  return place;
}

Result<Json> CaptureWorktree(const WorktreePlace& place) {
  Json state = Json::object();
  std::string head;
  MACO_ASSIGN(head, Git(place, {"rev-parse", "--symbolic-full-name", "HEAD"}, true));
  std::string oid;
  MACO_ASSIGN(oid, Git(place, {"rev-parse", "--verify", "-q", "HEAD"}, true));
  state["head"] = EscapeControl(head.substr(0, head.find('\n'))) + " " +
                  EscapeControl(oid.substr(0, oid.find('\n')));
  std::string index;
  if (!place.worktree.empty()) {
    MACO_ASSIGN(index, Git(place, {"ls-files", "--stage", "-z"}, false));
  }
  state["index_sha256"] = ToHex(Sha256(AsBytes(index)));
  state["roots"] = Json::array();
  for (const auto& root : place.roots) {
    Directory directory;
    MACO_ASSIGN(directory, Directory::OpenPath(root));
    TreeDigest tree;
    const bool inside = place.excluded.starts_with(root + "/");
    MACO_ASSIGN(tree, DigestTree(directory, kMaxEntries,
                                 inside ? place.excluded.substr(root.size() + 1) : ""));
    state["roots"].push_back(
        {{"path_hex", Hex(root)}, {"sha256", ToHex(tree.digest)}, {"entries", tree.entries}});
  }
  return state;
}

std::string WorktreeDifference(const Json& a, const Json& b) {
  if (!a.is_object() || !b.is_object()) {
    return "no state is on record";
  }
  if (a == b) {
    return {};
  }
  if (Member(a, "head") != Member(b, "head")) {
    return "HEAD is another";
  }
  if (Member(a, "index_sha256") != Member(b, "index_sha256")) {
    return "the index is another";
  }
  const Json ours = a.value("roots", Json::array());
  const Json theirs = b.value("roots", Json::array());
  for (std::size_t i = 0; i < ours.size() && i < theirs.size(); ++i) {
    if (ours[i] != theirs[i]) {
      const auto path = FromHex(Member(ours[i], "path_hex"));
      return "files in '" + (path ? std::string(AsText(*path)) : std::string()) + "' are others";
    }
  }
  return "it has other roots";
}

}  // namespace maco

// The tree of the lane, its index, its refs.
// Contract: maco-worktree/lane_losses.h.
#include "maco-worktree/lane_losses.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "libcommon/base/text.h"
#include "libcommon/os/bounded_read.h"
#include "maco-worktree/lane_git.h"
#include "maco-worktree/lane_removal.h"
#include "maco-worktree/lane_tree.h"
#include "maco-worktree/temporary_index.h"

namespace maco::worktree {
namespace {

constexpr std::size_t kMaxRef = 256;
constexpr off_t kMaxIndex = off_t{1} << 30U;

bool Exists(const std::string& path) {
  struct stat st {};
  return lstat(path.c_str(), &st) == 0;
}

// Whether the repository of a private lane has no ref but its branch, at the base. Written by
// whoever worked there: compared, never believed.
bool IsAsMade(const Lane& lane) {
  const auto head = ReadPath(lane.git_dir + "/HEAD", kMaxRef);
  const auto tip = ReadPath(lane.git_dir + "/" + lane.branch, kMaxRef);
  if (!head || *head != "ref: " + lane.branch + "\n" || !tip || *tip != lane.base + "\n" ||
      Exists(lane.git_dir + "/packed-refs") || Exists(lane.git_dir + "/worktrees")) {
    return false;
  }
  std::error_code failed;
  std::filesystem::recursive_directory_iterator entry(lane.git_dir + "/refs", failed);
  for (; !failed && entry != std::filesystem::recursive_directory_iterator();
       entry.increment(failed)) {
    std::error_code unknown;
    const bool directory = !entry->is_symlink(unknown) && entry->is_directory(unknown) && !unknown;
    if (!directory && entry->path().string() != lane.git_dir + "/" + lane.branch) {
      return false;
    }
  }
  return !failed;
}

// What the lane's own branch or HEAD has beyond its base.
Result<std::string> OwnCommits(const Place& place, const Lane& lane) {
  if (lane.kind == "private") {
    return std::string(IsAsMade(lane) ? "" : "it has commits of its own");
  }
  std::vector<std::string> tips{BranchTip(place, lane)};
  if (auto head = AskRepositoryGit(lane.git_dir, {"rev-parse", "--verify", "--quiet", "HEAD"})) {
    tips.push_back(*std::move(head));
  }
  for (const auto& tip : tips) {
    bool only_here = false;
    if (!tip.empty() && tip != lane.base) {
      MACO_ASSIGN(only_here, IsOnlyInLane(place, lane, tip));
    }
    if (only_here) {
      return "commit " + tip.substr(0, 12) + " is in no other branch";
    }
  }
  return "";
}

bool IsIgnoreFile(const std::string& path) {
  return path == ".gitignore" || path.ends_with("/.gitignore");
}

// What only rules that were written in the lane leave out, as far as can be told: rules that are
// there already may hide it too.
std::string HiddenByNewRules(const LaneTree& tree) {
  const bool new_rules = std::ranges::any_of(tree.changes, IsIgnoreFile, &Change::path) ||
                         std::ranges::any_of(tree.ignored, IsIgnoreFile);
  return new_rules && !tree.ignored.empty()
             ? Quoted(tree.ignored.front()) + " is left out by ignore rules, and those were changed"
             : "";
}

// ":old_mode new_mode old_oid new_oid status": whether the tree has at `path` what is staged.
bool IsInTree(const LaneTree& tree, const std::string& line, const std::string& path) {
  const auto words = Split(std::string_view(line).substr(1), ' ');
  if (words.size() != 5 || words[4] == "U") {
    return false;
  }
  constexpr std::string_view kNone = "000000";
  return words[1] == kNone || std::ranges::any_of(tree.changes, [&](const Change& change) {
           return change.path == path && change.new_oid == words[3];
         });
}

// The index of the lane is nothing to believe: it can only speak against a removal.
Result<std::string> StagedOnly(const ReadyLane& ready, const LaneTree& tree) {
  const std::string path = ready.lane.git_dir + "/index";
  struct stat st {};
  if (lstat(path.c_str(), &st) != 0) {
    return std::string();
  }
  if (!S_ISREG(st.st_mode) || st.st_size > kMaxIndex) {
    return std::string("its index is no file that can be read");
  }
  const LaneGit git = LaneGit::Of(ready.place, ready.lane);
  auto copy = TemporaryIndex::Create(git, path);
  if (!copy) {
    return Fail(std::move(copy).error());
  }
  SpawnResult result;
  MACO_ASSIGN(result,
              git.Run({"diff-index", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames",
                       "--no-ext-diff", "--ignore-submodules=none", tree.base_tree},
                      {"", copy->path(), "", std::nullopt, {}}));
  if (result.exit_status != 0 || result.signal != 0) {
    return "its index cannot be read: " + GitFailure("diff-index", result).message;
  }
  const auto fields = ZeroFields(result.output);
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
    if (!IsInTree(tree, fields[i], fields[i + 1])) {
      return Quoted(fields[i + 1]) + " is staged in its index, and is not what the file holds";
    }
  }
  return std::string();
}

}  // namespace

// Why its removal would lose something; empty if it would not.
Result<std::string> WhatWouldBeLost(const ReadyLane& ready) {
  if (!Exists(ready.lane.git_dir + "/HEAD")) {
    return "what is staged and committed there cannot be told: " + Quoted(ready.lane.git_dir) +
           " is no Git directory any more";
  }
  LaneTree tree;
  MACO_ASSIGN(tree,
              TakeLaneTree(LaneGit::Of(ready.place, ready.lane), ready.lane, Believe::kTimes));
  if (!tree.findings.empty()) {
    const Finding& first = tree.findings.front();
    return first.path.empty() ? first.what : Quoted(first.path) + " " + first.what;
  }
  bool saved = tree.changes.empty();
  for (const auto& [id, candidate] : ready.table.candidates) {
    saved = saved || (candidate.lane_id == ready.lane.id && candidate.state == "applied" &&
                      candidate.tree == tree.tree);
  }
  if (!saved) {
    return Quoted(tree.changes.front().path) + " was changed and not applied";
  }
  if (auto hidden = HiddenByNewRules(tree); !hidden.empty()) {
    return hidden;
  }
  std::string staged;
  MACO_ASSIGN(staged, StagedOnly(ready, tree));
  return !staged.empty() ? Result<std::string>(std::move(staged))
                         : OwnCommits(ready.place, ready.lane);
}

}  // namespace maco::worktree

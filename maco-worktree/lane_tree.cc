// add, write-tree, status, numstat: each on an index of ours that no run could touch.
// Contract: maco-worktree/lane_tree.h. Sources: git-status(1) "Porcelain Format Version 2".
#include "maco-worktree/lane_tree.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "libcommon/base/text.h"
#include "maco-worktree/temporary_index.h"

namespace maco::worktree {
namespace {

std::string StatusOf(const std::string& old_mode, const std::string& new_mode) {
  constexpr std::string_view kNone = "000000";
  if (old_mode == kNone) {
    return "A";
  }
  if (new_mode == kNone) {
    return "D";
  }
  return old_mode.substr(0, 3) == new_mode.substr(0, 3) ? "M" : "T";
}

Error ChangedMeanwhile(const Lane& lane) {
  return MakeError(Code::kBusy, "lane '" + lane.name + "' changed while it was captured",
                   "end what writes there, and capture again");
}

// "1 XY sub mH mI mW hH hI path": changes against the base; anything else but ignored files means
// that the lane is not any more as our index has it.
Result<void> ReadStatus(const Lane& lane, const std::string& text, LaneTree& out) {
  constexpr std::size_t kFields = 9;
  for (const auto& line : ZeroFields(text)) {
    if (line.starts_with("! ")) {
      out.ignored.push_back(line.substr(2));
      continue;
    }
    if (!line.starts_with("1 ")) {
      return Fail(ChangedMeanwhile(lane));
    }
    std::vector<std::string> fields;
    std::size_t begin = 0;
    while (fields.size() + 1 < kFields) {
      const std::size_t end = line.find(' ', begin);
      if (end == std::string::npos) {
        return Fail(Code::kInternal, "git status: a line is not understood");
      }
      fields.push_back(line.substr(begin, end - begin));
      begin = end + 1;
    }
    if (fields[1].size() != 2 || fields[1][1] != '.') {
      return Fail(ChangedMeanwhile(lane));
    }
    Change change;
    change.path = line.substr(begin);
    change.old_mode = fields[3];
    change.new_mode = fields[4];
    change.old_oid = fields[6];
    change.new_oid = fields[7];
    change.status = StatusOf(change.old_mode, change.new_mode);
    out.changes.push_back(std::move(change));
  }
  std::ranges::sort(out.changes, {}, &Change::path);
  return {};
}

// "added TAB deleted TAB path", "-" for both of a binary file.
void ReadNumbers(const std::string& text, LaneTree& out) {
  std::map<std::string, Change*> by_path;
  for (auto& change : out.changes) {
    by_path[change.path] = &change;
  }
  for (const auto& line : ZeroFields(text)) {
    const std::size_t first = line.find('\t');
    const std::size_t second = first == std::string::npos ? first : line.find('\t', first + 1);
    const auto change =
        second == std::string::npos ? by_path.end() : by_path.find(line.substr(second + 1));
    if (change == by_path.end()) {
      continue;
    }
    const std::string added = line.substr(0, first);
    change->second->binary = added == "-";
    change->second->added = ParseUint(added).value_or(0);
    change->second->deleted = ParseUint(line.substr(first + 1, second - first - 1)).value_or(0);
  }
}

// A large file is refused before it is read, unless the base has one of that size there.
Result<void> CheckLargeFiles(const LaneGit& git, const Lane& lane, const Inspection& inspection,
                             std::vector<Finding>& findings) {
  for (const auto& path : inspection.large_files) {
    struct stat st {};
    const bool there = lstat((lane.path + "/" + path).c_str(), &st) == 0;
    SpawnResult size;
    MACO_ASSIGN(size, git.Run({"cat-file", "-s", lane.base + ":" + path}, {}));
    const bool same =
        there && size.exit_status == 0 && size.output == std::to_string(st.st_size) + "\n";
    if (!same) {
      findings.push_back(
          {path, "has more than " + std::to_string(kLargeFileBytes >> 20U) + " MiB"});
    }
  }
  return {};
}

// What lies in the place of a submodule is looked at by no git that may not enter it.
Result<void> CheckSubmodules(const LaneGit& git, const Lane& lane, const LaneGit::Call& call,
                             std::vector<Finding>& findings) {
  std::string entries;
  MACO_ASSIGN(entries, git.Ask({"ls-files", "--stage", "-z"}, call));
  for (const auto& entry : ZeroFields(entries)) {
    if (!entry.starts_with("160000 ")) {
      continue;
    }
    const std::string path = entry.substr(entry.find('\t') + 1);
    std::error_code failed;
    if (!std::filesystem::is_empty(lane.path + "/" + path, failed) && !failed) {
      findings.push_back({path, "is a submodule, and there is something in its directory"});
    }
  }
  return {};
}

}  // namespace

Result<LaneTree> TakeLaneTree(const LaneGit& git, const Lane& lane, Believe believe) {
  LaneTree out;
  Inspection inspection;
  MACO_ASSIGN(inspection, InspectLane(lane.path));
  out.findings = inspection.findings;
  MACO_TRY(CheckLargeFiles(git, lane, inspection, out.findings));
  if (!out.findings.empty()) {
    return out;
  }
  auto index = TemporaryIndex::Create(git, believe == Believe::kTimes ? git.base_index() : "");
  if (!index) {
    return Fail(std::move(index).error());
  }
  const LaneGit::Call call{lane.path, index->path(), "", std::nullopt, {}};
  if (believe == Believe::kNothing) {
    MACO_TRY(git.Ask({"read-tree", lane.base}, call));
  }
  MACO_TRY(CheckSubmodules(git, lane, call, out.findings));
  if (!out.findings.empty()) {
    return out;
  }
  SpawnResult added;
  MACO_ASSIGN(added, git.Run({"add", "--all"}, call));
  if (added.exit_status != 0 || added.signal != 0) {
    out.findings.push_back({"", GitFailure("add", added).message});
    return out;
  }
  MACO_ASSIGN(out.tree, git.Ask({"write-tree"}, call));
  MACO_ASSIGN(out.base_tree, git.Ask({"rev-parse", "--verify", lane.base + "^{tree}"}, call));
  std::string status;
  MACO_ASSIGN(status, git.Ask({"status", "--porcelain=v2", "-z", "--untracked-files=all",
                               "--ignored=matching", "--no-renames", "--ignore-submodules=dirty"},
                              call));
  MACO_TRY(ReadStatus(lane, status, out));
  if (out.changes.empty() != (out.tree == out.base_tree)) {
    return Fail(ChangedMeanwhile(lane));
  }
  if (!out.changes.empty()) {
    std::string numbers;
    MACO_ASSIGN(numbers, git.Ask({"diff-tree", "-r", "--numstat", "-z", "--no-renames",
                                  "--no-ext-diff", "--no-textconv", out.base_tree, out.tree},
                                 call));
    ReadNumbers(numbers, out);
  }
  return out;
}

}  // namespace maco::worktree

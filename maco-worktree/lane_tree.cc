// Two looks of ours, and between them git, which is shown only what is not as in the base.
// Contract: maco-worktree/lane_tree.h. Sources: git-update-index(1), git-diff-tree(1).
#include "maco-worktree/lane_tree.h"

#include <sys/stat.h>

#include <algorithm>
#include <future>
#include <map>
#include <set>

#include "libcommon/base/text.h"
#include "maco-worktree/ignore_rules.h"
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

Error NotUnderstood(const char* what) {
  return MakeError(Code::kInternal, std::string(what) + ": a line is not understood");
}

// A look without what the lane's ignore rules leave out.
struct Kept {
  Look look;
  IgnoreRules ignored;

  // Files and links that git is to read.
  std::vector<const Seen*> Files() const {
    std::vector<const Seen*> out;
    for (const auto* list : {&look.changed, &look.fresh}) {
      for (const auto& seen : *list) {
        if (!seen.path.ends_with('/')) {
          out.push_back(&seen);
        }
      }
    }
    return out;
  }
  bool IsEmpty() const { return look.gone.empty() && Files().empty(); }
};

void LeaveOut(const IgnoreRules& rules, Look& look) {
  std::erase_if(look.fresh, [&rules](const Seen& seen) { return rules.Covers(seen.path); });
}

// Looks until whatever happens afterwards would show in another look.
Result<Kept> TakeLook(const LaneGit& git, const Lane& lane, const BaseIndex& index,
                      Believe believe) {
  constexpr int kMaxLooks = 3;
  for (int i = 0; i < kMaxLooks; ++i) {
    Kept out;
    MACO_ASSIGN(out.look, LookAtLane(lane.path, index, believe == Believe::kNothing));
    if (!out.look.findings.empty()) {
      return out;
    }
    const LaneGit::Call call{lane.path, "", "", std::nullopt, {}};
    MACO_ASSIGN(out.ignored, IgnoreRules::Ask(git, call, out.look.fresh));
    LeaveOut(out.ignored, out.look);
    const auto files = out.Files();
    if (ShowsChanges(out.look, files)) {
      return out;
    }
    WaitUntilOlder(files);
  }
  return Fail(ChangedMeanwhile(lane));
}

Result<void> LookAgain(const LaneGit& git, const Lane& lane, const BaseIndex& index,
                       Believe believe, const Kept& first) {
  Look second;
  MACO_ASSIGN(second, LookAtLane(lane.path, index, believe == Believe::kNothing));
  LeaveOut(first.ignored, second);
  if (second.fresh != first.look.fresh) {  // what came meanwhile may be left out too
    IgnoreRules late;
    MACO_ASSIGN(late, IgnoreRules::Ask(git, {lane.path, "", "", std::nullopt, {}}, second.fresh));
    LeaveOut(late, second);
  }
  return second.findings.empty() && second.changed == first.look.changed &&
                 second.fresh == first.look.fresh && second.gone == first.look.gone
             ? Result<void>()
             : Fail(ChangedMeanwhile(lane));
}

// A large file is refused before it is read, unless the base has one of that size there.
Result<void> CheckLargeFiles(const LaneGit& git, const Lane& lane, const Kept& kept,
                             std::vector<Finding>& findings) {
  for (const Seen* file : kept.Files()) {
    if (static_cast<std::uint64_t>(file->st.st_size) <= kLargeFileBytes) {
      continue;
    }
    SpawnResult size;
    MACO_ASSIGN(size, git.Run({"cat-file", "-s", lane.base + ":" + file->path}, {}));
    if (size.exit_status != 0 || size.output != std::to_string(file->st.st_size) + "\n") {
      findings.push_back(
          {file->path, "has more than " + std::to_string(kLargeFileBytes >> 20U) + " MiB"});
    }
  }
  return {};
}

// What is gone goes first: it may be in the way of what is there.
Result<void> Stage(const LaneGit& git, LaneGit::Call call, const Kept& kept,
                   std::vector<Finding>& findings) {
  const auto update = [&](const std::string& paths,
                          std::vector<std::string> options) -> Result<void> {
    if (paths.empty() || !findings.empty()) {
      return {};
    }
    call.input = paths;
    options.insert(options.begin(), "update-index");
    options.insert(options.end(), {"-z", "--stdin"});
    SpawnResult done;
    MACO_ASSIGN(done, git.Run(std::move(options), call));
    if (done.exit_status != 0 || done.signal != 0) {
      findings.push_back({"", GitFailure("update-index", done).message});
    }
    return {};
  };
  std::string gone;
  std::string there;
  for (const auto& path : kept.look.gone) {
    gone += path + '\0';
  }
  for (const Seen* file : kept.Files()) {
    there += file->path + '\0';
  }
  MACO_TRY(update(gone, {"--force-remove"}));
  return update(there, {"--add", "--replace"});
}

// ":old_mode new_mode old_oid new_oid status", then the path. Returns the number of fields.
Result<std::size_t> ReadChanges(const std::vector<std::string>& fields, LaneTree& out) {
  std::size_t i = 0;
  for (; i + 1 < fields.size() && fields[i].starts_with(':'); i += 2) {
    const auto words = Split(std::string_view(fields[i]).substr(1), ' ');
    if (words.size() != 5) {
      return Fail(NotUnderstood("git diff-tree"));
    }
    Change change;
    change.path = fields[i + 1];
    change.old_mode = std::string(words[0]);
    change.new_mode = std::string(words[1]);
    change.old_oid = std::string(words[2]);
    change.new_oid = std::string(words[3]);
    change.status = StatusOf(change.old_mode, change.new_mode);
    out.changes.push_back(std::move(change));
  }
  std::ranges::sort(out.changes, {}, &Change::path);
  return i;
}

// "added TAB deleted TAB path", "-" for both of a binary file.
Result<void> ReadNumbers(const std::vector<std::string>& fields, std::size_t begin, LaneTree& out) {
  std::map<std::string, Change*> by_path;
  for (auto& change : out.changes) {
    by_path[change.path] = &change;
  }
  for (std::size_t i = begin; i < fields.size(); ++i) {
    const std::string& line = fields[i];
    const std::size_t first = line.find('\t');
    const std::size_t second = first == std::string::npos ? first : line.find('\t', first + 1);
    const auto change =
        second == std::string::npos ? by_path.end() : by_path.find(line.substr(second + 1));
    if (change == by_path.end()) {
      return Fail(NotUnderstood("git diff-tree"));
    }
    const std::string added = line.substr(0, first);
    change->second->binary = added == "-";
    change->second->added = ParseUint(added).value_or(0);
    change->second->deleted = ParseUint(line.substr(first + 1, second - first - 1)).value_or(0);
  }
  return {};
}

// Modes, ids, numbers of lines and, after an empty field, the patch: in one start of git.
Result<void> Compare(const LaneGit& git, WithPatch with_patch, LaneTree& out) {
  std::vector<std::string> arguments{
      "diff-tree",    "-r",           "--raw",         "--numstat",     "-z",
      "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none",
      "--no-abbrev"};
  if (with_patch == WithPatch::kYes) {
    arguments.insert(arguments.end(),
                     {"-p", "--binary", "--no-color", "--src-prefix=a/", "--dst-prefix=b/"});
  }
  arguments.insert(arguments.end(), {out.base_tree, out.tree});
  SpawnResult result;
  auto ran = git.Run(std::move(arguments), {});
  if (!ran && ran.error().code == Code::kLimit) {
    return Fail(Code::kLimit, "the patch is larger than 64 MiB", "split the work");
  }
  MACO_ASSIGN(result, std::move(ran));
  if (result.exit_status != 0 || result.signal != 0) {
    return Fail(GitFailure("diff-tree", result));
  }
  constexpr std::string_view kEmptyField("\0\0", 2);
  if (const std::size_t end = result.output.find(kEmptyField); end != std::string::npos) {
    out.patch = result.output.substr(end + kEmptyField.size());
    result.output.resize(end + 1);
  }
  const auto fields = ZeroFields(result.output);
  std::size_t numbers = 0;
  MACO_ASSIGN(numbers, ReadChanges(fields, out));
  return ReadNumbers(fields, numbers, out);
}

// What git was shown, and nothing else, is in the tree. A name that it takes for no path it leaves
// out, and says so in no other way.
Result<void> CheckStaged(const Kept& kept, LaneTree& out) {
  std::set<std::string_view> shown(kept.look.gone.begin(), kept.look.gone.end());
  for (const Seen* file : kept.Files()) {
    shown.insert(file->path);
  }
  std::set<std::string_view> changed;
  for (const auto& change : out.changes) {
    if (shown.count(change.path) == 0) {
      return Fail(Code::kInternal, Quoted(change.path) + " is in the tree, and was not staged");
    }
    changed.insert(change.path);
  }
  for (const auto& path : kept.look.gone) {
    if (changed.count(path) == 0) {
      return Fail(Code::kInternal, Quoted(path) + " is gone, and still in the tree");
    }
  }
  for (const auto& seen : kept.look.fresh) {
    if (!seen.path.ends_with('/') && changed.count(seen.path) == 0) {
      out.findings.push_back({seen.path, "is an invalid path for git"});
    }
  }
  return {};
}

// Made from the commit, whatever the index of the base says.
Result<TemporaryIndex> IndexOfCommit(const LaneGit& git, const Lane& lane) {
  auto index = TemporaryIndex::Create(git, "");
  if (index) {
    MACO_TRY(git.Ask({"read-tree", lane.base}, {"", index->path(), "", std::nullopt, {}}));
  }
  return index;
}

// The index of the base, as git is to see it.
Result<TemporaryIndex> IndexToStage(const LaneGit& git, const BaseIndex& base, const Kept& kept) {
  std::vector<std::string_view> paths;
  for (const auto& seen : kept.look.changed) {
    paths.emplace_back(seen.path);
  }
  return TemporaryIndex::Of(git, base, paths);
}

Result<void> Failed(const Result<TemporaryIndex>& index) {
  return index ? Result<void>() : Fail(index.error());
}

Result<void> WriteTree(const LaneGit& git, const LaneGit::Call& call, WithPatch with_patch,
                       LaneTree& out) {
  MACO_ASSIGN(out.tree, git.Ask({"write-tree"}, call));
  return out.tree == out.base_tree ? Result<void>() : Compare(git, with_patch, out);
}

Result<std::string> BaseTree(const LaneGit& git, const Lane& lane, const BaseIndex& base) {
  return base.tree().empty() ? git.Ask({"rev-parse", "--verify", lane.base + "^{tree}"}, {})
                             : base.tree();
}

}  // namespace

Result<LaneTree> TakeLaneTree(const LaneGit& git, const Lane& lane, Believe believe,
                              WithPatch with_patch) {
  constexpr std::size_t kSha1 = 20;
  constexpr std::size_t kSha256 = 32;
  LaneTree out;
  std::optional<Result<TemporaryIndex>> index;
  if (believe == Believe::kNothing) {
    index.emplace(IndexOfCommit(git, lane));
    MACO_TRY(Failed(*index));
  }
  const auto base = BaseIndex::Read(index ? (*index)->path() : git.base_index(),
                                    lane.format == "sha256" ? kSha256 : kSha1);
  if (!base) {
    return Fail(base.error());
  }
  MACO_ASSIGN(out.base_tree, BaseTree(git, lane, *base));
  Kept kept;
  MACO_ASSIGN(kept, TakeLook(git, lane, *base, believe));
  out.tree = out.base_tree;
  out.findings = kept.look.findings;
  out.ignored.assign(kept.ignored.paths().begin(), kept.ignored.paths().end());
  if (!out.findings.empty() || kept.IsEmpty()) {
    return out;
  }
  if (!index) {
    index.emplace(IndexToStage(git, *base, kept));
    MACO_TRY(Failed(*index));
  }
  const LaneGit::Call call{lane.path, (*index)->path(), "", std::nullopt, {}};
  MACO_TRY(CheckLargeFiles(git, lane, kept, out.findings));
  if (out.findings.empty()) {
    MACO_TRY(Stage(git, call, kept, out.findings));
  }
  if (!out.findings.empty()) {
    return out;
  }
  // Every file has been read: what is written from now on shows in the second look.
  auto again =
      std::async(std::launch::async, [&] { return LookAgain(git, lane, *base, believe, kept); });
  const auto written = WriteTree(git, call, with_patch, out);
  MACO_TRY(again.get());
  MACO_TRY(written);
  MACO_TRY(CheckStaged(kept, out));
  return out;
}

}  // namespace maco::worktree

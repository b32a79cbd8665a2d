// Comparison of oids and modes; git reads the user's index from a copy, with our settings.
// Contract: maco-worktree/apply_target.h.
#include "maco-worktree/apply_target.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

#include "libcommon/base/text.h"
#include "libcommon/os/directory.h"
#include "maco-worktree/temporary_index.h"

namespace maco::worktree {
namespace {

constexpr std::string_view kNone = "000000";

using Paths = std::set<std::string>;

struct Entry {
  std::string mode;
  std::string oid;
};

Result<std::map<std::string, Entry>> EntriesOf(const LaneGit& git, const std::string& commit) {
  std::string text;
  MACO_ASSIGN(text, git.Ask({"ls-tree", "-r", "-z", commit}, {}));
  std::map<std::string, Entry> out;
  for (const auto& line : ZeroFields(text)) {
    const std::size_t tab = line.find('\t');
    const auto fields = Split(std::string_view(line).substr(0, tab), ' ');
    if (tab != std::string::npos && fields.size() == 3) {
      out[line.substr(tab + 1)] = {std::string(fields[0]), std::string(fields[2])};
    }
  }
  return out;
}

Result<void> CompareHead(const LaneGit& git, const Target& target,
                         const CandidateDocument& document, std::vector<std::string>& out) {
  if (target.head == document.base) {
    return {};
  }
  std::map<std::string, Entry> entries;
  MACO_ASSIGN(entries, EntriesOf(git, target.head));
  for (const auto& change : document.changes) {
    const auto entry = entries.find(change.path);
    const bool there = entry != entries.end();
    const bool same = change.old_mode == kNone ? !there
                                               : there && entry->second.mode == change.old_mode &&
                                                     entry->second.oid == change.old_oid;
    if (!same) {
      out.push_back(Quoted(change.path) + " is not in HEAD as it was in the base");
    }
  }
  return {};
}

Paths ChangedPaths(const CandidateDocument& document) {
  Paths out;
  for (const auto& change : document.changes) {
    out.insert(change.path);
  }
  return out;
}

void AddEach(const std::string& text, const Paths& changed, const std::string& what,
             std::vector<std::string>& out) {
  for (const auto& path : ZeroFields(text)) {
    if (changed.count(path) != 0) {
      out.push_back(Quoted(path) + " " + what);
    }
  }
}

// "H path": an upper-case H is an entry like any other.
void AddFlagged(const std::string& text, const Paths& changed, std::vector<std::string>& out) {
  for (const auto& line : ZeroFields(text)) {
    if (line.size() < 3 || changed.count(line.substr(2)) == 0 || line[0] == 'H') {
      continue;
    }
    out.push_back(Quoted(line.substr(2)) +
                  (line[0] == 'S' || line[0] == 's' ? " is not checked out here (sparse checkout)"
                   : line[0] == 'M'                 ? " is not merged"
                                    : " is marked as unchanged, which hides what it really is"));
  }
}

// Looks at what lies where a file is to be made. What the candidate removes makes room.
class Room {
 public:
  Room(const Directory& top, const CandidateDocument& document, std::vector<std::string>& out)
      : top_(top), out_(out) {
    for (const auto& change : document.changes) {
      if (change.status == "D") {
        removed_.insert(change.path);
      }
    }
  }

  Result<void> Check(const Change& change) {
    for (std::size_t slash = change.path.find('/'); slash != std::string::npos;
         slash = change.path.find('/', slash + 1)) {
      const std::string parent = change.path.substr(0, slash);
      if (removed_.count(parent) != 0) {
        return {};
      }
      if (passed_.count(parent) != 0) {
        continue;
      }
      const auto directory = top_.Open(parent);
      if (!directory && directory.error().code == Code::kNotFound) {
        return {};
      }
      if (!directory) {
        out_.push_back(Quoted(parent) +
                       (directory.error().os_errno == EXDEV ? " is on another file system"
                                                            : " is no directory") +
                       ", and " + Quoted(change.path) + " is to be put in it");
        return {};
      }
      passed_.insert(parent);
    }
    return change.status == "A" ? CheckPlace(change.path) : Result<void>();
  }

 private:
  Result<void> CheckPlace(const std::string& path) {
    const auto there = top_.Stat(path);
    if (there && !S_ISDIR(there->mode)) {
      out_.push_back(Quoted(path) + " is there already, and git does not know it");
    } else if (there) {
      MACO_TRY(Empties(path, path, 0));
    }
    return {};
  }

  // Whether the candidate removes something below; what it does not remove is in the way.
  Result<bool> Empties(const std::string& directory, const std::string& wanted, int depth) {
    constexpr int kMaxDepth = 256;
    constexpr std::size_t kMaxNames = 100'000;
    const auto opened = top_.Open(directory);
    if (!opened || depth > kMaxDepth) {
      return InTheWay(directory, wanted);
    }
    std::vector<std::string> names;
    MACO_ASSIGN(names, opened->List(kMaxNames));
    bool some = false;
    for (const auto& name : names) {
      const std::string path = directory + "/" + name;
      FileIdentity identity;
      MACO_ASSIGN(identity, opened->Stat(name));
      if (removed_.count(path) != 0) {
        some = true;
      } else if (!S_ISDIR(identity.mode)) {
        return InTheWay(path, wanted);
      } else {
        bool below = false;
        MACO_ASSIGN(below, Empties(path, wanted, depth + 1));
        some = some || below;
      }
    }
    return some || depth == 0 ? Result<bool>(true) : InTheWay(directory, wanted);
  }

  bool InTheWay(const std::string& path, const std::string& wanted) {
    out_.push_back(Quoted(path) + " is in the way of " + Quoted(wanted));
    return true;
  }

  const Directory& top_;
  std::vector<std::string>& out_;
  Paths removed_;
  Paths passed_;
};

// Only attribute files are read for this.
Result<void> CheckFilters(const Target& target, const CandidateDocument& document,
                          std::vector<std::string>& out) {
  std::string input;
  for (const auto& change : document.changes) {
    input += change.path + '\0';
  }
  SpawnResult result;
  MACO_ASSIGN(result, RunRepositoryGit(target.git_dir,
                                       {"--work-tree=" + target.worktree, "check-attr", "-z",
                                        "--stdin", "filter"},
                                       input));
  if (result.exit_status != 0) {
    return Fail(GitFailure("check-attr", result));
  }
  const auto fields = ZeroFields(result.output);
  for (std::size_t i = 0; i + 2 < fields.size(); i += 3) {
    if (fields[i + 2] != "unspecified" && fields[i + 2] != "unset") {
      out.push_back(Quoted(fields[i]) + " is written by the filter '" +
                    EscapeControl(fields[i + 2]) + "', which is not run");
    }
  }
  return {};
}

}  // namespace

std::string IndexInfo(const std::vector<Change>& changes, Side side) {
  std::string gone;
  std::string there;
  for (const auto& change : changes) {
    const std::string& mode = side == Side::kNew ? change.new_mode : change.old_mode;
    const std::string& oid = side == Side::kNew ? change.new_oid : change.old_oid;
    if (mode == kNone) {
      gone += "0 " + std::string(oid.size(), '0') + "\t" + change.path + '\0';
    } else {
      there += mode + " " + oid + "\t" + change.path + '\0';
    }
  }
  return gone + there;
}

Result<Target> FindTarget(const Place& place, const Lane& lane) {
  Target out;
  out.worktree = place.repository.worktree;
  out.git_dir = place.repository.git_dir;
  out.file_mode = place.file_mode;
  if (out.worktree.empty()) {
    return Fail(Code::kRefused, "there is no working tree here to apply to",
                "stand in the working tree that is to be changed");
  }
  if (out.worktree == lane.path) {
    return Fail(Code::kRefused, "this is the lane itself",
                "stand in the working tree that is to be changed");
  }
  for (const char* name :
       {"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"}) {
    if (access((out.git_dir + "/" + name).c_str(), F_OK) == 0) {
      return Fail(Code::kRefused,
                  std::string("a merge, rebase or the like is going on here (") + name + ")",
                  "finish it first; 'git status' says how");
    }
  }
  struct stat tree {};
  struct stat git {};
  if (stat(out.worktree.c_str(), &tree) != 0 || stat(out.git_dir.c_str(), &git) != 0 ||
      tree.st_dev != git.st_dev) {
    return Fail(Code::kUnsupported,
                "working tree and Git directory are not on one file system, so that files cannot "
                "be put in place at once",
                "apply in another working tree: git worktree add");
  }
  auto head = AskRepositoryGit(out.git_dir, {"rev-parse", "--verify", "HEAD^{commit}"});
  if (!head) {
    return Fail(Code::kRefused, "HEAD names no commit here", "make a first commit");
  }
  out.head = *std::move(head);
  if (auto ref = AskRepositoryGit(out.git_dir, {"symbolic-ref", "--quiet", "HEAD"})) {
    out.ref = *std::move(ref);
  }
  return out;
}

Result<std::vector<std::string>> ConflictsWith(const LaneGit& git, const Target& target,
                                               const CandidateDocument& document) {
  std::vector<std::string> out;
  std::string shared;
  MACO_ASSIGN(shared, AskRepositoryGit(target.git_dir, {"rev-parse", "--shared-index-path"}));
  if (!shared.empty()) {
    return Fail(Code::kUnsupported, "the index here is split in two files (core.splitIndex)",
                "git update-index --no-split-index");
  }
  MACO_TRY(CompareHead(git, target, document, out));
  const Paths changed = ChangedPaths(document);
  auto copy = TemporaryIndex::Create(git, target.git_dir + "/index");
  if (!copy) {
    return copy.error().code == Code::kNotFound
               ? Fail(Code::kRefused, "the index is missing here", "git reset")
               : Fail(std::move(copy).error());
  }
  const LaneGit::Call call{target.worktree, copy->path(), "", std::nullopt, {}, target.file_mode};
  // Entries whose times alone have changed are no changes.
  MACO_TRY(git.Run({"update-index", "-q", "--refresh"}, call));
  std::string text;
  MACO_ASSIGN(text, git.Ask({"diff-index", "--cached", "--name-only", "-z", "--no-renames",
                             "--no-ext-diff", "--ignore-submodules=all", target.head},
                            call));
  AddEach(text, changed, "has staged changes", out);
  MACO_ASSIGN(
      text, git.Ask({"diff-files", "--name-only", "-z", "--no-ext-diff", "--ignore-submodules=all"},
                    call));
  AddEach(text, changed, "has changes that are not committed", out);
  MACO_ASSIGN(text, git.Ask({"ls-files", "-v", "-z"}, call));
  AddFlagged(text, changed, out);
  Directory top;
  MACO_ASSIGN(top, Directory::OpenPath(target.worktree));
  Room room(top, document, out);
  for (const auto& change : document.changes) {
    MACO_TRY(room.Check(change));
  }
  MACO_TRY(CheckFilters(target, document, out));
  return out;
}

}  // namespace maco::worktree

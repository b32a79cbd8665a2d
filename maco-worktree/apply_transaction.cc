// Renames for files, a rename for the index, compare-and-swap for the ref; in this order.
// Contract: maco-worktree/apply_transaction.h.
#include "maco-worktree/apply_transaction.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "libcommon/base/byte_codec.h"
#include "libcommon/base/text.h"
#include "libcommon/os/bounded_read.h"
#include "maco-worktree/lane_removal.h"
#include "maco-worktree/temporary_index.h"

namespace maco::worktree {
namespace {

constexpr std::string_view kNone = "000000";
constexpr char kLockText[] = "git maco apply ";
constexpr std::size_t kMaxIndex = std::size_t{1} << 30U;

bool Exists(const std::string& path) {
  struct stat st {};
  return lstat(path.c_str(), &st) == 0;
}

Result<std::string> HashOf(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) {
    return FailOs(errno, "open", path);
  }
  Digest digest;
  MACO_ASSIGN(digest, Sha256OfFile(fd.get(), kMaxIndex));
  return ToHex(digest);
}

Error NotAsLeft(const std::vector<std::string>& paths) {
  return MakeError(Code::kRefused,
                   Quoted(paths.front()) +
                       (paths.size() > 1 ? " and " + std::to_string(paths.size() - 1) + " more"
                                         : std::string()) +
                       " changed since the apply was cut short",
                   "keep a copy of that, put the file back as it was, and call it again");
}

Result<void> SyncFileSystem(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid() || syncfs(fd.get()) != 0) {
    return FailOs(errno, "flush the file system of", path);
  }
  return {};
}

}  // namespace

Result<void> ApplyTransaction::TakeIndexLock() const {
  const std::string path = IndexLock();
  if (const auto text = ReadPath(path, 4096); text && text->starts_with(kLockText)) {
    unlink(path.c_str());  // of an apply that died before it had begun: we hold the mutation lock
  }
  const UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!fd.valid() && errno == EEXIST) {
    return Fail(Code::kBusy, Quoted(path) + " exists: git is changing the index, or was cut short",
                "wait for it; if no git is running, remove that file");
  }
  if (!fd.valid()) {
    return FailOs(errno, "create", path);
  }
  return WriteAll(fd.get(), AsBytes(kLockText + row_.id + "\n"));
}

// By its content: git's own would begin with an index.
bool ApplyTransaction::HoldsIndexLock() const {
  const auto text = ReadPath(IndexLock(), 4096);
  return text && *text == kLockText + row_.id + "\n";
}

Result<std::string> ApplyTransaction::MakeCommit(const std::string& message,
                                                 const Place& place) const {
  if (place.user_name.empty() || place.user_email.empty()) {
    return Fail(Code::kInvalid, "a commit needs user.name and user.email",
                "git config --global user.name NAME, and user.email");
  }
  auto index = TemporaryIndex::Create(git_, "");
  if (!index) {
    return Fail(std::move(index).error());
  }
  LaneGit::Call call{"", index->path(), "", std::nullopt, {}};
  MACO_TRY(git_.Ask({"read-tree", row_.head}, call));
  call.input = IndexInfo(document_.changes, Side::kNew);
  MACO_TRY(git_.Ask({"update-index", "-z", "--index-info"}, call));
  std::string tree;
  call.input = std::nullopt;
  MACO_ASSIGN(tree, git_.Ask({"write-tree"}, call));
  if (row_.head == document_.base && tree != document_.tree) {
    return Fail(Code::kInternal, "the tree to commit is not the candidate's");
  }
  call.environment = {"GIT_AUTHOR_NAME=" + place.user_name, "GIT_AUTHOR_EMAIL=" + place.user_email,
                      "GIT_COMMITTER_NAME=" + place.user_name,
                      "GIT_COMMITTER_EMAIL=" + place.user_email};
  call.input = (message.empty() ? "Apply lane " + document_.lane + "\n" : message + "\n") +
               "\nMaco-Candidate: " + row_.candidate + "\n";
  return git_.Ask({"commit-tree", "-p", row_.head, tree}, call);
}

// A pack that git would make too: the index file is written last, so that no half of it is seen.
Result<void> ApplyTransaction::BringObjects(const std::string& root) const {
  std::string common;
  MACO_ASSIGN(common, AskRepositoryGit(row_.git_dir, {"rev-parse", "--path-format=absolute",
                                                      "--git-path", "objects"}));
  LaneGit::Call call;
  call.input = root + "\n^" + document_.base + "\n^" + row_.head + "\n";
  MACO_TRY(git_.Ask({"pack-objects", "-q", "--revs", "--non-empty", common + "/pack/pack"}, call));
  return {};
}

Result<void> ApplyTransaction::StageFiles(const std::string& place, Side side,
                                          const std::vector<Change>& changes) const {
  if (mkdir(place.c_str(), 0700) != 0 && errno != EEXIST) {
    return FailOs(errno, "create", place);
  }
  auto index = TemporaryIndex::Create(git_, "");
  if (!index) {
    return Fail(std::move(index).error());
  }
  LaneGit::Call call{row_.worktree, index->path(), "", IndexInfo(changes, side), {}};
  MACO_TRY(git_.Ask({"update-index", "-z", "--index-info"}, call));
  call.input = std::nullopt;
  MACO_TRY(git_.Ask({"checkout-index", "--all", "--quiet", "--prefix=" + place + "/"}, call));
  return {};
}

Result<std::vector<std::string>> ApplyTransaction::Differing(const std::vector<Change>& changes,
                                                             Side side) const {
  std::vector<std::string> out;
  std::vector<Change> there;
  for (const auto& change : changes) {
    const std::string& mode = side == Side::kNew ? change.new_mode : change.old_mode;
    if (mode != kNone) {
      there.push_back(change);
    } else if (struct stat st{}; lstat((row_.worktree + "/" + change.path).c_str(), &st) == 0 &&
                                 !S_ISDIR(st.st_mode)) {
      out.push_back(change.path);
    }
  }
  if (there.empty()) {
    return out;
  }
  auto index = TemporaryIndex::Create(git_, "");
  if (!index) {
    return Fail(std::move(index).error());
  }
  LaneGit::Call call{row_.worktree, index->path(), "", IndexInfo(there, side), {}};
  MACO_TRY(git_.Ask({"update-index", "-z", "--index-info"}, call));
  call.input = std::nullopt;
  MACO_TRY(git_.Run({"update-index", "-q", "--refresh"}, call));
  std::string text;
  MACO_ASSIGN(text, git_.Ask({"diff-files", "--name-only", "-z", "--no-ext-diff"}, call));
  for (auto& path : ZeroFields(text)) {
    out.push_back(std::move(path));
  }
  return out;
}

// What was staged is moved away when it is done; what is to be removed is gone.
bool ApplyTransaction::IsDone(const Change& change) const {
  return change.new_mode == kNone ? !Exists(row_.worktree + "/" + change.path)
                                  : !Exists(Staging() + "/" + change.path);
}

Result<void> ApplyTransaction::Replace(const Directory& top, const std::string& staging,
                                       const std::string& path) const {
  for (std::size_t slash = path.find('/'); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    MACO_TRY(top.OpenOrCreate(path.substr(0, slash), 0777));
  }
  const std::size_t slash = path.rfind('/');
  Directory parent;
  if (slash == std::string::npos) {
    MACO_ASSIGN(parent, top.Clone());
  } else {
    MACO_ASSIGN(parent, top.Open(path.substr(0, slash), CrossDevice::kAllow));
  }
  const std::string name = path.substr(slash + 1);
  // A directory that only had files which this candidate removed.
  unlinkat(parent.fd(), name.c_str(), AT_REMOVEDIR);
  if (renameat(AT_FDCWD, (staging + "/" + path).c_str(), parent.fd(), name.c_str()) != 0) {
    return FailOs(errno, "put in place", path);
  }
  return {};
}

Result<void> ApplyTransaction::RemoveFile(const Directory& top, const std::string& path) const {
  if (auto removed = top.Unlink(path); !removed && removed.error().code != Code::kNotFound) {
    return removed;
  }
  // Directories that are empty now go too, as git does it.
  for (std::size_t slash = path.rfind('/'); slash != std::string::npos && slash > 0;
       slash = path.rfind('/', slash - 1)) {
    if (!top.RemoveDirectory(path.substr(0, slash))) {
      break;
    }
  }
  return {};
}

Result<void> ApplyTransaction::PutIndex(const std::string& index) const {
  const std::string beside = row_.git_dir + "/index.maco-" + row_.id;
  unlink(beside.c_str());
  MACO_TRY(CopyIndex(index, beside));
  const UniqueFd fd(open(beside.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat st {};
  if (stat((row_.git_dir + "/index").c_str(), &st) == 0) {
    chmod(beside.c_str(), st.st_mode & 0777U);
  }
  if (!fd.valid() || fsync(fd.get()) != 0) {
    return FailOs(errno, "flush", beside);
  }
  if (rename(beside.c_str(), (row_.git_dir + "/index").c_str()) != 0) {
    return FailOs(errno, "put the index in place", row_.git_dir);
  }
  return {};
}

Result<void> ApplyTransaction::MoveRef(const std::string& from, const std::string& to) const {
  const std::string name = row_.ref.empty() ? "HEAD" : row_.ref;
  const auto now = AskRepositoryGit(row_.git_dir, {"rev-parse", "--verify", "--quiet", name});
  if (now && *now == to) {
    return {};
  }
  MACO_TRY(AskRepositoryGit(row_.git_dir, {"update-ref", "--no-deref", "-m",
                                           "maco: apply lane " + row_.lane, name, to, from}));
  return {};
}

Result<void> ApplyTransaction::Prepare(Apply& row, const std::string& message, const Place& place) {
  MACO_TRY(TakeIndexLock());
  if (row.mode == "commit") {
    MACO_ASSIGN(row.commit, MakeCommit(message, place));
  }
  MACO_TRY(BringObjects(row.commit.empty() ? document_.tree : row.commit));
  MACO_TRY(StageFiles(Staging(), Side::kNew, document_.changes));
  if (TouchesIndex()) {
    const std::string index = row.git_dir + "/index";
    MACO_ASSIGN(row.index_sha256, HashOf(index));
    unlink(NewIndex().c_str());
    unlink(OldIndex().c_str());
    MACO_TRY(CopyIndex(index, OldIndex()));
    MACO_TRY(CopyIndex(index, NewIndex()));
    const LaneGit::Call call{"", NewIndex(), "", IndexInfo(document_.changes, Side::kNew), {}};
    MACO_TRY(git_.Ask({"update-index", "-z", "--index-info"}, call));
  }
  MACO_TRY(SyncFileSystem(row.git_dir));
  row_ = row;
  return {};
}

void ApplyTransaction::Discard() const {
  [[maybe_unused]] const auto removed = RemoveTree(Staging());
  [[maybe_unused]] const auto old = RemoveTree(Staging() + "-old");
  unlink(NewIndex().c_str());
  unlink(OldIndex().c_str());
  unlink((row_.git_dir + "/index.maco-" + row_.id).c_str());
  if (HoldsIndexLock()) {
    unlink(IndexLock().c_str());
  }
}

Result<void> ApplyTransaction::Finish() {
  if (!HoldsIndexLock()) {
    MACO_TRY(TakeIndexLock());
  }
  std::vector<Change> left;
  for (const auto& change : document_.changes) {
    if (!IsDone(change)) {
      left.push_back(change);
    }
  }
  std::vector<std::string> differing;
  MACO_ASSIGN(differing, Differing(left, Side::kOld));
  // What was put in place just before the crash differs from the old, and is the new.
  std::erase_if(left, [&](const Change& change) {
    return std::ranges::find(differing, change.path) == differing.end();
  });
  if (!left.empty()) {
    MACO_ASSIGN(differing, Differing(left, Side::kNew));
    if (!differing.empty()) {
      return Fail(NotAsLeft(differing));
    }
  }
  Directory top;
  MACO_ASSIGN(top, Directory::OpenPath(row_.worktree));
  for (const auto& change : document_.changes) {
    if (change.new_mode == kNone && !IsDone(change)) {
      MACO_TRY(RemoveFile(top, change.path));
    }
  }
  for (const auto& change : document_.changes) {
    if (change.new_mode != kNone && !IsDone(change)) {
      MACO_TRY(Replace(top, Staging(), change.path));
    }
  }
  if (TouchesIndex()) {
    std::string now;
    MACO_ASSIGN(now, HashOf(row_.git_dir + "/index"));
    if (now == row_.index_sha256) {
      const LaneGit::Call call{row_.worktree, NewIndex(), "", std::nullopt, {}};
      MACO_TRY(git_.Run({"update-index", "-q", "--refresh"}, call));
      MACO_TRY(PutIndex(NewIndex()));
    } else if (const auto ours = HashOf(NewIndex()); !ours || *ours != now) {
      return Fail(NotAsLeft({row_.git_dir + "/index"}));
    }
  }
  MACO_TRY(SyncFileSystem(row_.worktree));
  return row_.commit.empty() ? Result<void>() : MoveRef(row_.head, row_.commit);
}

Result<void> ApplyTransaction::Undo() {
  if (!HoldsIndexLock()) {
    MACO_TRY(TakeIndexLock());
  }
  std::vector<std::string> not_old;
  MACO_ASSIGN(not_old, Differing(document_.changes, Side::kOld));
  std::vector<Change> changed;
  for (const auto& change : document_.changes) {
    if (std::ranges::find(not_old, change.path) != not_old.end()) {
      changed.push_back(change);
    }
  }
  std::vector<std::string> not_new;
  MACO_ASSIGN(not_new, Differing(changed, Side::kNew));
  if (!not_new.empty()) {
    return Fail(NotAsLeft(not_new));
  }
  std::string index;
  if (TouchesIndex()) {
    MACO_ASSIGN(index, HashOf(row_.git_dir + "/index"));
    const auto ours = HashOf(NewIndex());
    if (index != row_.index_sha256 && (!ours || *ours != index)) {
      return Fail(NotAsLeft({row_.git_dir + "/index"}));
    }
  }
  if (!row_.commit.empty()) {
    MACO_TRY(MoveRef(row_.commit, row_.head));
  }
  const std::string old = Staging() + "-old";
  MACO_TRY(RemoveTree(old));
  MACO_TRY(StageFiles(old, Side::kOld, changed));
  Directory top;
  MACO_ASSIGN(top, Directory::OpenPath(row_.worktree));
  for (const auto& change : changed) {
    if (change.old_mode == kNone) {
      MACO_TRY(RemoveFile(top, change.path));
    }
  }
  for (const auto& change : changed) {
    if (change.old_mode != kNone) {
      MACO_TRY(Replace(top, old, change.path));
    }
  }
  if (TouchesIndex() && index != row_.index_sha256) {
    MACO_TRY(PutIndex(OldIndex()));
  }
  return SyncFileSystem(row_.worktree);
}

}  // namespace maco::worktree

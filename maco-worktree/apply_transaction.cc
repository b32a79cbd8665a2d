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
#include "maco-worktree/apply_files.h"
#include "maco-worktree/apply_index.h"
#include "maco-worktree/lane_removal.h"
#include "maco-worktree/temporary_index.h"

namespace maco::worktree {
namespace {

constexpr std::string_view kNone = "000000";

Error NotAsLeft(const std::vector<std::string>& paths) {
  return MakeError(Code::kRefused,
                   Quoted(paths.front()) +
                       (paths.size() > 1 ? " and " + std::to_string(paths.size() - 1) + " more"
                                         : std::string()) +
                       " changed since the apply was cut short",
                   "keep a copy of that, put the file back as it was, and call it again");
}

// A directory that only had files which are removed already, or that a crash left before there were
// any. What has a file in it stays, and then the rename says so.
void RemoveEmpty(const Directory& parent, const std::string& name, int depth) {
  constexpr int kMaxDepth = 256;
  constexpr std::size_t kMaxNames = 10'000;
  const auto directory = parent.Open(name);
  if (!directory || depth > kMaxDepth) {
    return;
  }
  if (const auto names = directory->List(kMaxNames)) {
    for (const auto& below : *names) {
      RemoveEmpty(*directory, below, depth + 1);
    }
  }
  unlinkat(parent.fd(), name.c_str(), AT_REMOVEDIR);
}

Result<void> SyncFileSystemOf(const std::string& path) {
  Directory directory;
  MACO_ASSIGN(directory, Directory::OpenPath(path));
  return SyncFileSystem(directory.fd());
}

}  // namespace

Result<void> ApplyTransaction::TakeIndexLock() const {
  const std::string path = IndexLock();
  const UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!fd.valid() && errno == EEXIST) {
    return Fail(Code::kBusy, Quoted(path) + " exists: git is changing the index, or was cut short",
                "wait for it; if no git is running, remove that file");
  }
  if (!fd.valid()) {
    return FailOs(errno, "create", path);
  }
  return WriteAll(fd.get(), AsBytes(kApplyLockText + row_.id + "\n"));
}

// By its content: git's own would begin with an index.
bool ApplyTransaction::HoldsIndexLock() const {
  const auto text = ReadPath(IndexLock(), 4096);
  return text && *text == kApplyLockText + row_.id + "\n";
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

Result<void> ApplyTransaction::StageFiles() const {
  if (mkdir(Staging().c_str(), 0700) != 0) {
    return FailOs(errno, "create", Staging());
  }
  auto index = TemporaryIndex::Create(git_, "");
  if (!index) {
    return Fail(std::move(index).error());
  }
  LaneGit::Call call{
      row_.worktree, index->path(), "", IndexInfo(document_.changes, Side::kNew), {}};
  MACO_TRY(git_.Ask({"update-index", "-z", "--index-info"}, call));
  call.input = std::nullopt;
  MACO_TRY(git_.Ask({"checkout-index", "--all", "--quiet", "--prefix=" + Staging() + "/"}, call));
  return {};
}

// As git sees it, so that a file whose line ends alone are others is what it was.
Result<void> ApplyTransaction::RequireOld(const Place& place) const {
  std::vector<Change> there;
  for (const auto& change : document_.changes) {
    if (change.old_mode != kNone) {
      there.push_back(change);
    }
  }
  if (there.empty()) {
    return {};
  }
  auto index = TemporaryIndex::Create(git_, "");
  if (!index) {
    return Fail(std::move(index).error());
  }
  LaneGit::Call call{row_.worktree,  index->path(), "", IndexInfo(there, Side::kOld), {},
                     place.file_mode};
  MACO_TRY(git_.Ask({"update-index", "-z", "--index-info"}, call));
  call.input = std::nullopt;
  MACO_TRY(git_.Run({"update-index", "-q", "--refresh"}, call));
  std::string text;
  MACO_ASSIGN(text, git_.Ask({"diff-files", "--name-only", "-z", "--no-ext-diff"}, call));
  const auto paths = ZeroFields(text);
  return paths.empty() ? Result<void>() : Fail(NotAsLeft(paths));
}

// Copies of what there is, and what each file was and will be.
Result<void> ApplyTransaction::KeepOldFiles(const Place& place) const {
  Directory top;
  Directory staged;
  Directory kept;
  MACO_ASSIGN(top, Directory::OpenPath(row_.worktree));
  MACO_ASSIGN(staged, Directory::OpenPath(Staging()));
  if (mkdir(Kept().c_str(), 0700) != 0) {
    return FailOs(errno, "create", Kept());
  }
  MACO_ASSIGN(kept, Directory::OpenPath(Kept()));
  std::vector<FileChange> files;
  for (const auto& change : document_.changes) {
    FileChange file{change.path, "", ""};
    if (change.old_mode != kNone) {
      MACO_TRY(CopyAside(top, change.path, kept));
      // Of the copy: the tree may change at any time.
      MACO_ASSIGN(file.old_state, StateOfFile(kept, change.path));
    }
    if (change.new_mode != kNone) {
      MACO_ASSIGN(file.new_state, StateOfFile(staged, change.path));
    }
    files.push_back(std::move(file));
  }
  MACO_TRY(RequireOld(place));
  return WriteFileChanges(FileList(), files);
}

// The files that still have to change to become as `to` says. Each has to be old or new.
Result<std::vector<FileChange>> ApplyTransaction::Left(const Directory& top, Side to) const {
  std::vector<FileChange> files;
  MACO_ASSIGN(files, ReadFileChanges(FileList()));
  std::vector<FileChange> out;
  std::vector<std::string> wrong;
  for (auto& file : files) {
    std::string now;
    MACO_ASSIGN(now, StateOfFile(top, file.path));
    const std::string& wanted = to == Side::kNew ? file.new_state : file.old_state;
    const std::string& other = to == Side::kNew ? file.old_state : file.new_state;
    if (now != wanted && now != other) {
      wrong.push_back(file.path);
    } else if (now != wanted) {
      out.push_back(std::move(file));
    }
  }
  return wrong.empty() ? Result<std::vector<FileChange>>(std::move(out)) : Fail(NotAsLeft(wrong));
}

// Removals first: they make room. Each file is looked at once more: an editor may have saved it.
Result<void> ApplyTransaction::PutFiles(const Directory& top, Side to,
                                        const std::vector<FileChange>& files) const {
  const auto wanted = [to](const FileChange& file) -> const std::string& {
    return to == Side::kNew ? file.new_state : file.old_state;
  };
  const auto before = [to](const FileChange& file) -> const std::string& {
    return to == Side::kNew ? file.old_state : file.new_state;
  };
  const auto check = [&](const FileChange& file) -> Result<void> {
    std::string now;
    MACO_ASSIGN(now, StateOfFile(top, file.path));
    return now == before(file) ? Result<void>() : Fail(NotAsLeft({file.path}));
  };
  for (const auto& file : files) {
    if (wanted(file).empty()) {
      MACO_TRY(check(file));
      MACO_TRY(RemoveFile(top, file.path));
    }
  }
  for (const auto& file : files) {
    if (!wanted(file).empty()) {
      MACO_TRY(check(file));
      MACO_TRY(
          Replace(top, to == Side::kNew ? Staging() : Kept(), file.path, !before(file).empty()));
    }
  }
  return {};
}

Result<void> ApplyTransaction::Replace(const Directory& top, const std::string& staging,
                                       const std::string& path, bool there) const {
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
  RemoveEmpty(parent, name, 0);
  Directory staged;
  MACO_ASSIGN(staged, Directory::OpenPath(staging));
  return staged.Move(path, parent, name,
                     there ? Directory::IfThere::kReplace : Directory::IfThere::kKeep);
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

// Whether the commit of this apply is what the ref names, or is behind it.
Result<ApplyTransaction::RefState> ApplyTransaction::LookAtRef() const {
  const auto now = AskRepositoryGit(row_.git_dir, {"rev-parse", "--verify", "--quiet", RefName()});
  if (now && *now == row_.commit) {
    return RefState::kMoved;
  }
  if (now && *now == row_.head) {
    return RefState::kOld;
  }
  SpawnResult behind;
  MACO_ASSIGN(behind, RunRepositoryGit(row_.git_dir,
                                       {"merge-base", "--is-ancestor", row_.commit, RefName()}));
  return behind.exit_status == 0 && behind.signal == 0 ? RefState::kBuiltUpon : RefState::kOther;
}

Result<void> ApplyTransaction::MoveRef(const std::string& from, const std::string& to) const {
  MACO_TRY(AskRepositoryGit(row_.git_dir, {"update-ref", "--no-deref", "-m",
                                           "maco: apply lane " + row_.lane, RefName(), to, from}));
  return {};
}

Result<void> ApplyTransaction::Prepare(Apply& row, const std::string& message, const Place& place) {
  MACO_TRY(TakeIndexLock());
  if (row.mode == "commit") {
    MACO_ASSIGN(row.commit, MakeCommit(message, place));
  }
  MACO_TRY(BringObjects(row.commit.empty() ? document_.tree : row.commit));
  MACO_TRY(StageFiles());
  MACO_TRY(KeepOldFiles(place));
  MACO_TRY(SyncFileSystemOf(row.git_dir));
  MACO_TRY(SyncFileSystemOf(git_.files()));
  row_ = row;
  return {};
}

void ApplyTransaction::Discard() const {
  [[maybe_unused]] const auto staged = RemoveTree(Staging());
  [[maybe_unused]] const auto kept = RemoveTree(Kept());
  unlink(FileList().c_str());
  unlink((row_.git_dir + "/index.maco-" + row_.id).c_str());
  if (HoldsIndexLock()) {
    unlink(IndexLock().c_str());
  }
}

// Where the ref is, if that allows it.
Result<ApplyTransaction::RefState> ApplyTransaction::CheckRef(Side to) const {
  if (row_.commit.empty()) {
    return to == Side::kNew ? RefState::kMoved : RefState::kOld;
  }
  RefState ref = RefState::kOther;
  MACO_ASSIGN(ref, LookAtRef());
  if (to == Side::kNew && ref == RefState::kOther) {
    return Fail(Code::kRefused, Quoted(RefName()) + " is not where it was",
                "git maco worktree apply --abort " + row_.lane);
  }
  if (to == Side::kOld && ref == RefState::kBuiltUpon) {
    return Fail(Code::kRefused, "there are commits on top of the one that this apply made",
                "git maco worktree apply --continue " + row_.lane);
  }
  return ref;
}

Result<void> ApplyTransaction::CheckAll(Side to) const {
  MACO_TRY(CheckRef(to));
  Directory top;
  MACO_ASSIGN(top, Directory::OpenPath(row_.worktree));
  MACO_TRY(Left(top, to));
  return TouchesIndex() ? CheckIndex(git_, row_, document_.changes) : Result<void>();
}

Result<void> ApplyTransaction::Check(Side to) {
  if (!HoldsIndexLock()) {
    MACO_TRY(TakeIndexLock());
  }
  auto fits = CheckAll(to);
  if (!fits) {
    unlink(IndexLock().c_str());  // so that git can put it right
  }
  return fits;
}

Result<void> ApplyTransaction::Finish() {
  RefState ref = RefState::kMoved;
  MACO_ASSIGN(ref, CheckRef(Side::kNew));
  Directory top;
  MACO_ASSIGN(top, Directory::OpenPath(row_.worktree));
  std::vector<FileChange> left;
  MACO_ASSIGN(left, Left(top, Side::kNew));
  MACO_TRY(PutFiles(top, Side::kNew, left));
  if (TouchesIndex()) {
    MACO_TRY(TurnIndex(git_, row_, document_.changes, Side::kNew));
  }
  MACO_TRY(SyncFileSystemOf(row_.worktree));
  return ref == RefState::kOld ? MoveRef(row_.head, row_.commit) : Result<void>();
}

Result<void> ApplyTransaction::Undo() {
  RefState ref = RefState::kOld;
  MACO_ASSIGN(ref, CheckRef(Side::kOld));
  Directory top;
  MACO_ASSIGN(top, Directory::OpenPath(row_.worktree));
  std::vector<FileChange> left;
  MACO_ASSIGN(left, Left(top, Side::kOld));
  if (ref == RefState::kMoved) {
    MACO_TRY(MoveRef(row_.commit, row_.head));
  }
  MACO_TRY(PutFiles(top, Side::kOld, left));
  if (TouchesIndex()) {
    MACO_TRY(TurnIndex(git_, row_, document_.changes, Side::kOld));
  }
  return SyncFileSystemOf(row_.worktree);
}

}  // namespace maco::worktree

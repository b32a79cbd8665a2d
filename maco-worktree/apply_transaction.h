// Applying as a transaction: what is to be done is durable before anything is touched, each file is
// replaced by one rename, and whatever a crash leaves can be finished or undone (WT-05).
// Contract: docs/formats/lane.md ("apply"). Errors: kRefused (something is not as the transaction
// left it; nothing is guessed), kInvalid (git's words), kBusy (index.lock), kIo.
#pragma once

#include <string>

#include "maco-worktree/apply_files.h"
#include "maco-worktree/apply_target.h"

namespace maco::worktree {

// What an apply puts into the Git directory: directories with this and its id, and index.lock with
// this text and its id.
inline constexpr char kApplyPrefix[] = "maco-apply-";
inline constexpr char kApplyLockText[] = "git maco apply ";

class ApplyTransaction {
 public:
  // `row` says what is done. Borrows what it is given.
  ApplyTransaction(const LaneGit& git, const CandidateDocument& document, const Apply& row)
      : git_(git), document_(document), row_(row) {}

  // Before the row is durable: takes index.lock, brings the objects into the repository, makes the
  // new files and copies of the old ones beside the tree, and, for --commit, the commit, whose id
  // it puts into `row`.
  Result<void> Prepare(Apply& row, const std::string& message, const Place& place);
  // Removes what Prepare made.
  void Discard() const;

  // Whether it can be finished (kNew) or undone (kOld): what is there has to be old or new. Changes
  // nothing but index.lock, which it takes, and gives up if not.
  Result<void> Check(Side to);
  // Does all that is not done yet.
  Result<void> Finish();
  // Undoes all that was done. Once begun it has used up what finishing needs.
  Result<void> Undo();

 private:
  // Of the ref that --commit moves: before, after, after with commits on top, or somewhere else.
  enum class RefState { kOld, kMoved, kBuiltUpon, kOther };

  std::string Staging() const { return row_.git_dir + "/" + kApplyPrefix + row_.id; }
  std::string Kept() const { return Staging() + "-old"; }
  std::string IndexLock() const { return row_.git_dir + "/index.lock"; }
  std::string FileList() const { return git_.files() + "/apply.files"; }
  std::string RefName() const { return row_.ref.empty() ? "HEAD" : row_.ref; }
  bool TouchesIndex() const { return row_.mode != "worktree"; }

  Result<void> TakeIndexLock() const;
  bool HoldsIndexLock() const;
  Result<std::string> MakeCommit(const std::string& message, const Place& place) const;
  Result<void> BringObjects(const std::string& root) const;
  Result<void> StageFiles() const;
  Result<void> KeepOldFiles(const Place& place) const;
  Result<void> RequireOld(const Place& place) const;
  Result<std::vector<FileChange>> Left(const Directory& top, Side to) const;
  Result<void> PutFiles(const Directory& top, Side to, const std::vector<FileChange>& files) const;
  Result<void> Replace(const Directory& top, const std::string& staging, const std::string& path,
                       bool there) const;
  Result<void> RemoveFile(const Directory& top, const std::string& path) const;
  Result<RefState> CheckRef(Side to) const;
  Result<void> CheckAll(Side to) const;
  Result<RefState> LookAtRef() const;
  Result<void> MoveRef(const std::string& from, const std::string& to) const;

  const LaneGit& git_;
  const CandidateDocument& document_;
  Apply row_;
};

}  // namespace maco::worktree

// Applying as a transaction: what is to be done is durable before anything is touched, each file is
// replaced by one rename, and whatever a crash leaves can be finished or undone (WT-05).
// Contract: docs/formats/lane.md ("apply"). Errors: kRefused (something is not as the transaction
// left it; nothing is guessed), kInvalid (git's words), kBusy (index.lock), kIo.
#pragma once

#include <string>

#include "maco-worktree/apply_target.h"

namespace maco::worktree {

class ApplyTransaction {
 public:
  // `row` says what is done. Borrows what it is given.
  ApplyTransaction(const LaneGit& git, const CandidateDocument& document, const Apply& row)
      : git_(git), document_(document), row_(row) {}

  // Before the row is durable: takes index.lock, brings the objects into the repository, makes the
  // new files beside the tree, the new index, and, for --commit, the commit, whose id it puts into
  // `row`.
  Result<void> Prepare(Apply& row, const std::string& message, const Place& place);
  // Removes what Prepare made.
  void Discard() const;

  // Does all that is not done yet. What it meets has to be old or new.
  Result<void> Finish();
  // Undoes all that was done.
  Result<void> Undo();

 private:
  std::string Staging() const { return row_.git_dir + "/maco-apply-" + row_.id; }
  std::string IndexLock() const { return row_.git_dir + "/index.lock"; }
  std::string NewIndex() const { return git_.files() + "/apply.index"; }
  std::string OldIndex() const { return git_.files() + "/apply.old-index"; }
  bool TouchesIndex() const { return row_.mode != "worktree"; }

  Result<void> TakeIndexLock() const;
  bool HoldsIndexLock() const;
  Result<std::string> MakeCommit(const std::string& message, const Place& place) const;
  Result<void> BringObjects(const std::string& root) const;
  Result<void> StageFiles(const std::string& place, Side side,
                          const std::vector<Change>& changes) const;
  // Of these, the ones whose file is not as `side` says.
  Result<std::vector<std::string>> Differing(const std::vector<Change>& changes, Side side) const;
  bool IsDone(const Change& change) const;
  Result<void> Replace(const Directory& top, const std::string& staging,
                       const std::string& path) const;
  Result<void> RemoveFile(const Directory& top, const std::string& path) const;
  Result<void> PutIndex(const std::string& index) const;
  Result<void> MoveRef(const std::string& from, const std::string& to) const;

  const LaneGit& git_;
  const CandidateDocument& document_;
  Apply row_;
};

}  // namespace maco::worktree

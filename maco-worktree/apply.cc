// `apply`: checks everything again, then does it as a transaction (WT-04, WT-05, WT-08).
#include <unistd.h>

#include "libcommon/base/clock.h"
#include "libcommon/base/exit_code.h"
#include "libcommon/base/random_id.h"
#include "libcommon/base/report.h"
#include "libcommon/base/text.h"
#include "libcommon/cli/document.h"
#include "libcommon/cli/output.h"
#include "libcommon/state/run_sight.h"
#include "maco-worktree/apply_leftovers.h"
#include "maco-worktree/apply_transaction.h"
#include "maco-worktree/change_rules.h"
#include "maco-worktree/decision.h"
#include "maco-worktree/verbs.h"

namespace maco::worktree {
namespace {

// What the last validation of this very candidate says; empty: it passed, or none is asked for.
std::string ValidationFailure(const Reviewed& reviewed) {
  const LaneRun* last = nullptr;
  for (const auto& [key, run] : reviewed.table.validations) {
    if (run.candidate == reviewed.row.id && (last == nullptr || run.time_us > last->time_us)) {
      last = &run;
    }
  }
  if (last == nullptr) {
    return reviewed.place.validation_required
               ? "no run has validated this candidate, which maco.worktreeValidation asks for"
               : "";
  }
  if (last->time_us == 0) {
    return "its validation, run " + last->run +
           ", does not count: the lane was not found to hold the candidate after it";
  }
  const RunSight sight = LookAtRun(*reviewed.state, last->run);
  if (sight.error || !sight.evidence_failure.empty() || !sight.publishable) {
    return "its validation, run " + last->run + ", proves nothing";
  }
  if (sight.exit_status.value_or(1) != 0) {
    return "its validation, run " + last->run + ", ended with status " +
           std::to_string(sight.exit_status.value_or(1));
  }
  return "";
}

// Everything but the target that speaks against it.
Result<std::vector<std::string>> Objections(const Reviewed& reviewed, const LaneGit& git,
                                            const std::string& word) {
  std::vector<std::string> out;
  if (!reviewed.lane.tainted.empty()) {
    out.push_back("it is tainted: " + EscapeControl(reviewed.lane.tainted));
  }
  if (reviewed.row.state != "accepted") {
    out.push_back("its candidate is " + reviewed.row.state + ", not accepted");
  }
  const std::string unproven =
      UnprovenRuns(*reviewed.state, reviewed.table, reviewed.lane, reviewed.document);
  if (!unproven.empty() && word.empty() && reviewed.row.unverified.empty()) {
    out.push_back(unproven);
  }
  if (auto failure = ValidationFailure(reviewed); !failure.empty()) {
    out.push_back(std::move(failure));
  }
  LaneTree tree;
  tree.base_tree = reviewed.document.base_tree;
  tree.tree = reviewed.document.tree;
  tree.changes = reviewed.document.changes;
  std::vector<Finding> findings;
  MACO_ASSIGN(findings,
              JudgeChanges(git, reviewed.lane, reviewed.table, tree, reviewed.place.letters));
  for (const auto& finding : findings) {
    out.push_back(Quoted(finding.path) + " " + finding.what);
  }
  return out;
}

int Refuse(const std::string& lane, const std::vector<std::string>& reasons) {
  for (const auto& reason : reasons) {
    Note(kTool, "lane '" + lane + "' is not applied: " + reason);
  }
  return kExitNo;
}

// `word`: the operator's, for runs that do not prove the candidate; it is kept with it.
Result<void> PutRow(const StateRoot& state, const Apply& row, const std::string& word) {
  auto registry = LaneRegistry::Open(state);
  if (!registry) {
    return Fail(std::move(registry).error());
  }
  StoreChange change;
  change.put[ApplyKey(row.id)] = Encode(row);
  const auto candidate = registry->table().candidates.find(row.candidate);
  if (!word.empty() && candidate != registry->table().candidates.end()) {
    Candidate next = candidate->second;
    next.unverified = word;
    change.put[CandidateKey(next.id)] = Encode(next);
  }
  MACO_TRY(registry->Commit(change));
  return registry->Close();
}

// The last commit of the store: the row goes, and the candidate is applied, or is as it was.
Result<void> EndRow(const StateRoot& state, const Apply& row, bool applied) {
  auto registry = LaneRegistry::Open(state);
  if (!registry) {
    return Fail(std::move(registry).error());
  }
  StoreChange change;
  change.erase.push_back(ApplyKey(row.id));
  const auto candidate = registry->table().candidates.find(row.candidate);
  if (applied && candidate != registry->table().candidates.end()) {
    Candidate next = candidate->second;
    next.state = "applied";
    next.applied_us = WallMicros();
    next.applied_to = row.worktree;
    next.applied_commit = row.commit;
    change.put[CandidateKey(next.id)] = Encode(next);
  }
  MACO_TRY(registry->Commit(change));
  return registry->Close();
}

Result<int> Tell(const Apply& row, const CandidateDocument& document, bool json, const char* done) {
  if (json) {
    Json paths = Json::array();
    for (const auto& change : document.changes) {
      paths.push_back({{"path", EncodeBytes(change.path)}, {"status", change.status}});
    }
    MACO_TRY(PrintDocument("maco.apply/1", {{"candidate", row.candidate},
                                            {"lane", row.lane},
                                            {"mode", row.mode},
                                            {"commit", row.commit},
                                            {"result", done},
                                            {"changes", std::move(paths)}}));
    return kExitOk;
  }
  std::string text;
  for (const auto& change : document.changes) {
    text += std::string(done) + " " + change.status + " " + EscapeControl(change.path) + "\n";
  }
  MACO_TRY(Print(text + (row.commit.empty() ? "" : "commit " + row.commit + "\n")));
  return kExitOk;
}

// In this working tree, or of this lane anywhere.
const Apply* Pending(const LaneTable& table, const Target& target, const Lane& lane) {
  for (const auto& [id, row] : table.applies) {
    if (row.git_dir == target.git_dir || row.lane == lane.name) {
      return &row;
    }
  }
  return nullptr;
}

Result<int> Recover(const Reviewed& reviewed, const Options& options) {
  const Apply* row = nullptr;
  for (const auto& [id, candidate] : reviewed.table.applies) {
    row = candidate.lane == reviewed.lane.name ? &candidate : row;
  }
  if (row == nullptr) {
    bool left = false;
    MACO_ASSIGN(left, ClearApplyLeftovers(reviewed.place.repository.git_dir, reviewed.table,
                                          options.dry_run));
    if (left) {
      MACO_TRY(
          Print("what it left was cleared away: its candidate is " + reviewed.row.state + "\n"));
      return kExitOk;
    }
    Note(kTool, "no apply of lane '" + reviewed.lane.name + "' was cut short");
    return kExitNo;
  }
  const LaneGit git = LaneGit::Of(reviewed.place, reviewed.lane);
  Directory files;
  MACO_ASSIGN(files, OpenLaneDirectory(*reviewed.state, reviewed.lane.id));
  const auto candidate = reviewed.table.candidates.find(row->candidate);
  if (candidate == reviewed.table.candidates.end()) {
    return Fail(Code::kCorrupt, "the candidate of an apply is missing",
                "git maco journal verify store/lanes");
  }
  CandidateDocument document;
  MACO_ASSIGN(document, ReadCandidate(*reviewed.state, files, candidate->second));
  ApplyTransaction transaction(git, document, *row);
  if (options.dry_run) {
    return Tell(*row, document, options.json, options.abort ? "would undo" : "would finish");
  }
  if (row->undo_us != 0 && !options.abort) {
    return Fail(Code::kRefused, "undoing the apply of lane '" + row->lane + "' has begun",
                "git maco worktree apply --abort " + row->lane);
  }
  MACO_TRY(transaction.Check(options.abort ? Side::kOld : Side::kNew));
  if (options.abort) {
    Apply undone = *row;
    undone.undo_us = undone.undo_us != 0 ? undone.undo_us : WallMicros();
    MACO_TRY(PutRow(*reviewed.state, undone, ""));
  }
  MACO_TRY(options.abort ? transaction.Undo() : transaction.Finish());
  MACO_TRY(EndRow(*reviewed.state, *row, !options.abort));
  transaction.Discard();
  return Tell(*row, document, options.json, options.abort ? "undone" : "applied");
}

Result<int> Begin(const Reviewed& reviewed, const Options& options) {
  const LaneGit git = LaneGit::Of(reviewed.place, reviewed.lane);
  Target target;
  MACO_ASSIGN(target, FindTarget(reviewed.place, reviewed.lane));
  if (const Apply* pending = Pending(reviewed.table, target, reviewed.lane)) {
    return Fail(Code::kBusy,
                "an apply of lane '" + pending->lane + "' to " + Quoted(pending->worktree) +
                    " was cut short",
                "git maco worktree apply --continue " + pending->lane + ", or --abort");
  }
  if (!options.dry_run) {
    MACO_TRY(ClearApplyLeftovers(target.git_dir, reviewed.table, false));
  }
  std::vector<std::string> reasons;
  MACO_ASSIGN(reasons, Objections(reviewed, git, options.unverified));
  const std::string mode = options.mode.empty() ? "index" : options.mode;
  if (reasons.empty()) {
    MACO_ASSIGN(reasons, ConflictsWith(git, target, reviewed.document));
  }
  if (!reasons.empty()) {
    return Refuse(reviewed.lane.name, reasons);
  }
  Apply row;
  MACO_ASSIGN(row.id, RandomId());
  row.candidate = reviewed.row.id;
  row.lane = reviewed.lane.name;
  row.mode = mode;
  row.worktree = target.worktree;
  row.git_dir = target.git_dir;
  row.ref = target.ref;
  row.head = target.head;
  row.uid = getuid();
  row.started_us = WallMicros();
  if (options.dry_run) {
    return Tell(row, reviewed.document, options.json, "would apply");
  }
  ApplyTransaction transaction(git, reviewed.document, row);
  auto prepared = transaction.Prepare(row, options.message, reviewed.place);
  if (prepared) {
    prepared = PutRow(*reviewed.state, row, options.unverified);
  }
  if (!prepared) {
    transaction.Discard();
    return Fail(std::move(prepared).error());
  }
  const auto done = transaction.Finish();
  if (!done) {
    Error error = done.error();
    error.remedy = "git maco worktree apply --continue " + row.lane + ", or --abort" +
                   (error.remedy.empty() ? "" : "; " + error.remedy);
    return Fail(std::move(error));
  }
  MACO_TRY(EndRow(*reviewed.state, row, true));
  transaction.Discard();
  return Tell(row, reviewed.document, options.json, "applied");
}

}  // namespace

Result<int> ApplyCandidate(const Options& options) {
  Place place;
  MACO_ASSIGN(place, FindPlace());
  auto state = OpenState(place, Access::kWrite);
  if (!state) {
    return Fail(std::move(state).error());
  }
  UniqueFd mutation;
  MACO_ASSIGN(mutation, LockMutation(*state));
  Reviewed reviewed;
  MACO_ASSIGN(reviewed, OpenReviewed(options.names.front(), Access::kWrite));
  return options.proceed || options.abort ? Recover(reviewed, options) : Begin(reviewed, options);
}

}  // namespace maco::worktree

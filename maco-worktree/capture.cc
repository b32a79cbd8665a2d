// `capture`: from what a lane holds to a signed candidate, or to a tainted lane (WT-03, WT-08).
#include "libcommon/base/clock.h"
#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"
#include "libcommon/base/text.h"
#include "libcommon/cli/document.h"
#include "libcommon/cli/output.h"
#include "maco-worktree/candidate_document.h"
#include "maco-worktree/change_rules.h"
#include "maco-worktree/lane_removal.h"
#include "maco-worktree/place.h"
#include "maco-worktree/ready_lane.h"
#include "maco-worktree/verbs.h"

namespace maco::worktree {
namespace {

constexpr std::size_t kMaxIgnored = 1000;

std::string Sentence(const Finding& finding) {
  return finding.path.empty() ? finding.what : Quoted(finding.path) + " " + finding.what;
}

Json FindingsJson(const std::vector<Finding>& findings) {
  Json out = Json::array();
  for (const auto& finding : findings) {
    out.push_back({{"path", EncodeBytes(finding.path)}, {"what", EncodeBytes(finding.what)}});
  }
  return out;
}

// The row as it is now: other commands may have changed it meanwhile.
Result<Lane> LaneNow(const LaneTable& table, const Lane& lane) {
  Lane now;
  MACO_ASSIGN(now, table.Find(lane.name));
  if (now.id != lane.id) {
    return Fail(Code::kBusy, "lane '" + lane.name + "' was removed meanwhile");
  }
  return now;
}

Result<void> PutTaint(const StateRoot& state, const Lane& lane, const std::string& why) {
  auto registry = LaneRegistry::Open(state);
  if (!registry) {
    return Fail(std::move(registry).error());
  }
  Lane next;
  MACO_ASSIGN(next, LaneNow(registry->table(), lane));
  next.tainted = why;
  StoreChange change;
  change.put[LaneKey(next.name)] = Encode(next);
  MACO_TRY(registry->Commit(change));
  return registry->Close();
}

Result<int> Taint(const StateRoot& state, const Lane& lane, const std::vector<Finding>& findings,
                  const Options& options) {
  for (const auto& finding : findings) {
    Note(kTool, "lane '" + lane.name + "': " + Sentence(finding));
  }
  if (!options.dry_run) {
    std::string why = Sentence(findings.front());
    if (findings.size() > 1) {
      why += ", and " + std::to_string(findings.size() - 1) + " more";
    }
    MACO_TRY(PutTaint(state, lane, why));
    Note(kTool, "lane '" + lane.name +
                    "' is tainted: nothing of it can be accepted; after you have mended it: git "
                    "maco worktree repair --untaint NOTE " +
                    lane.name);
  }
  if (options.json) {
    MACO_TRY(PrintDocument(
        "maco.capture/1",
        {{"lane", lane.name}, {"candidate", nullptr}, {"findings", FindingsJson(findings)}}));
  }
  return kExitNo;
}

CandidateDocument Compose(const Lane& lane, LaneTree tree, std::vector<RunOfLane> runs) {
  CandidateDocument out;
  out.lane = lane.name;
  out.lane_id = lane.id;
  out.format = lane.format;
  out.base = lane.base;
  out.base_tree = tree.base_tree;
  out.tree = tree.tree;
  for (const auto& change : tree.changes) {
    if (auto risk = RiskOf(change); !risk.empty()) {
      out.risks.push_back({change.path, std::move(risk)});
    }
  }
  out.changes = std::move(tree.changes);
  out.runs = std::move(runs);
  out.ignored = std::move(tree.ignored);
  if (out.ignored.size() > kMaxIgnored) {
    out.ignored.resize(kMaxIgnored);
  }
  return out;
}

// The row is new, or stays as it is: the same content by the same runs keeps its decision.
Result<Candidate> PutCandidate(const StateRoot& state, const Lane& lane, Candidate row) {
  auto registry = LaneRegistry::Open(state);
  if (!registry) {
    return Fail(std::move(registry).error());
  }
  StoreChange change;
  if (const auto there = registry->table().candidates.find(row.id);
      there != registry->table().candidates.end()) {
    const Candidate& old = there->second;
    row.state = old.state;
    row.read_us = old.read_us;
    row.decided_us = old.decided_us;
    row.decided_uid = old.decided_uid;
    row.note = old.note;
    row.unverified = old.unverified;
    row.applied_us = old.applied_us;
    row.applied_to = old.applied_to;
    row.applied_commit = old.applied_commit;
  }
  Lane next;
  MACO_ASSIGN(next, LaneNow(registry->table(), lane));
  next.candidate = row.id;
  change.put[CandidateKey(row.id)] = Encode(row);
  change.put[LaneKey(next.name)] = Encode(next);
  MACO_TRY(registry->Commit(change));
  MACO_TRY(registry->Close());
  return row;
}

Result<int> Tell(const Lane& lane, const Candidate& row, const CandidateDocument& document,
                 const Options& options) {
  if (!lane.tainted.empty()) {
    Note(kTool, "lane '" + lane.name + "' is still tainted: " + EscapeControl(lane.tainted) +
                    "; nothing of it can be accepted until git maco worktree repair --untaint "
                    "NOTE " +
                    lane.name);
  }
  if (options.json) {
    Json out = Describe(document);
    out["candidate"] = row.id;
    out["state"] = row.state;
    out["tainted"] = EncodeBytes(lane.tainted);
    out["findings"] = Json::array();
    MACO_TRY(PrintDocument("maco.capture/1", std::move(out)));
    return kExitOk;
  }
  for (const auto& run : document.runs) {
    if (!run.publishable) {
      Note(kTool, "run " + run.run + " does not prove what it did here: " + run.why_not);
    }
  }
  if (document.runs.empty()) {
    Note(kTool, "no run wrote this lane: nothing proves how its changes came about");
  }
  MACO_TRY(Print(row.id + "\n"));
  return kExitOk;
}

}  // namespace

Result<int> Capture(const Options& options) {
  ReadyLane ready;
  MACO_ASSIGN(ready, OpenReadyLane(options.names.front(), Access::kWrite, LeaseKind::kWrite));
  const Lane& lane = ready.lane;
  const LaneGit git = LaneGit::Of(ready.place, lane);
  LaneTree tree;
  MACO_ASSIGN(tree, TakeLaneTree(git, lane, options.rehash ? Believe::kNothing : Believe::kTimes,
                                 WithPatch::kYes));
  const std::string patch = std::move(tree.patch);
  if (tree.findings.empty()) {
    MACO_ASSIGN(tree.findings, JudgeChanges(git, lane, ready.table, tree, ready.place.letters));
  }
  if (!tree.findings.empty()) {
    return Taint(*ready.state, lane, tree.findings, options);
  }
  if (tree.changes.empty()) {
    Note(kTool, "lane '" + lane.name + "' holds no change: there is nothing to capture");
    return kExitNo;
  }
  Directory files;
  MACO_ASSIGN(files, OpenLaneDirectory(*ready.state, lane.id));
  CandidateDocument document = Compose(lane, tree, RunsOf(*ready.state, ready.table, lane.id));
  if (options.dry_run) {
    MACO_TRY(Print("would capture " + std::to_string(document.changes.size()) +
                   " changed paths as tree " + document.tree + "\n"));
    return kExitOk;
  }
  MACO_TRY(WritePatch(files, patch, document));
  Candidate row;
  row.id = CandidateId(ready.state->repository_id(), document);
  row.lane = lane.name;
  row.lane_id = lane.id;
  row.state = "unread";
  row.base = document.base;
  row.tree = document.tree;
  row.patch_sha256 = document.patch_sha256;
  row.captured_us = WallMicros();
  MACO_TRY(NamePatch(files, row.id));
  MACO_ASSIGN(row.document_sha256, WriteCandidate(*ready.state, files, row.id, document));
  MACO_ASSIGN(row, PutCandidate(*ready.state, lane, row));
  return Tell(lane, row, document, options);
}

}  // namespace maco::worktree

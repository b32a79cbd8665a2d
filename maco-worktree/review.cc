// `show`, `accept`, `reject`, `check`: what a person does with a candidate (WT-04, WT-08).
#include <unistd.h>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/clock.h"
#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"
#include "libcommon/base/text.h"
#include "libcommon/cli/document.h"
#include "libcommon/cli/output.h"
#include "maco-worktree/candidate_document.h"
#include "maco-worktree/decision.h"
#include "maco-worktree/ready_lane.h"
#include "maco-worktree/verbs.h"

namespace maco::worktree {
namespace {

// Escapes what a terminal would act on, line by line.
std::string ForReader(const std::string& text) {
  if (isatty(STDOUT_FILENO) != 1) {
    return text;
  }
  std::string out;
  for (const auto line : Split(text, '\n')) {
    std::size_t begin = 0;
    for (std::size_t tab = line.find('\t'); tab != std::string_view::npos;
         tab = line.find('\t', begin)) {
      out += EscapeControl(line.substr(begin, tab - begin)) + "\t";
      begin = tab + 1;
    }
    out += EscapeControl(line.substr(begin)) + "\n";
  }
  out.pop_back();
  return out;
}

std::string Statistics(const Reviewed& reviewed) {
  const CandidateDocument& document = reviewed.document;
  std::string out = "candidate " + reviewed.row.id + " of lane '" + reviewed.lane.name + "', " +
                    reviewed.row.state + "\nbase " + document.base + "\ntree " + document.tree +
                    "\n";
  if (!reviewed.lane.tainted.empty()) {
    out += "tainted: " + EscapeControl(reviewed.lane.tainted) + "\n";
  }
  for (const auto& risk : document.risks) {
    out += "risk: " + Quoted(risk.path) + ": " + risk.risk + "\n";
  }
  for (const auto& run : RunsOf(*reviewed.state, reviewed.table, reviewed.lane.id)) {
    out += "run " + run.run + ": " +
           (run.publishable ? "verified, publishable" : "unproven: " + EscapeControl(run.why_not)) +
           "\n";
  }
  if (document.runs.empty()) {
    out += "no run wrote this lane: nothing proves how its changes came about\n";
  }
  if (!document.ignored.empty()) {
    out += std::to_string(document.ignored.size()) +
           " ignored files or directories are not part of it, the first is " +
           Quoted(document.ignored.front()) + "\n";
  }
  for (const auto& change : document.changes) {
    const std::string lines =
        change.binary ? "binary"
                      : "+" + std::to_string(change.added) + " -" + std::to_string(change.deleted);
    out += " " + change.status + " " + Padded(lines, 12) + Quoted(change.path);
    if (change.status != "A" && change.status != "D" && change.old_mode != change.new_mode) {
      out += " (mode " + change.old_mode + " to " + change.new_mode + ")";
    }
    out += "\n";
  }
  return out;
}

Json Document(const Reviewed& reviewed) {
  Json out = Describe(reviewed.document);
  out["candidate"] = reviewed.row.id;
  out["state"] = reviewed.row.state;
  out["tainted"] = EncodeBytes(reviewed.lane.tainted);
  out["note"] = EncodeBytes(reviewed.row.note);
  out["unverified"] = EncodeBytes(reviewed.row.unverified);
  out["unproven"] =
      EncodeBytes(UnprovenRuns(*reviewed.state, reviewed.table, reviewed.lane, reviewed.document));
  return out;
}

// Says no: what stands in the way of a decision.
Result<int> Refuse(const std::string& lane, const std::string& why, const std::string& remedy) {
  Note(kTool, "lane '" + lane + "': " + why + (remedy.empty() ? "" : "; " + remedy));
  return kExitNo;
}

}  // namespace

Result<int> Show(const Options& options) {
  Reviewed reviewed;
  MACO_ASSIGN(reviewed,
              OpenReviewed(options.names.front(), options.stat ? Access::kRead : Access::kWrite));
  std::string patch;
  if (!options.stat) {
    Directory files;
    MACO_ASSIGN(files, OpenLaneDirectory(*reviewed.state, reviewed.lane.id));
    MACO_ASSIGN(patch, ReadPatch(files, reviewed.row.id));
  }
  if (options.json) {
    Json document = Document(reviewed);
    if (!options.stat) {
      document["patch"] = EncodeBytes(patch);
    }
    MACO_TRY(PrintDocument("maco.candidate-view/1", std::move(document)));
  } else {
    MACO_TRY(Print(Statistics(reviewed)));
  }
  if (options.stat) {
    return kExitOk;
  }
  if (!options.json) {
    MACO_TRY(Print("\n" + ForReader(patch)));
  }
  if (reviewed.row.state == "unread") {
    Candidate next = reviewed.row;
    next.state = "read";
    next.read_us = WallMicros();
    MACO_TRY(Move(reviewed, next));
  }
  return kExitOk;
}

Result<int> Accept(const Options& options) {
  Reviewed reviewed;
  MACO_ASSIGN(reviewed, OpenReviewed(options.names.front(), Access::kWrite));
  const std::string& name = reviewed.lane.name;
  if (reviewed.row.state == "accepted") {
    return kExitOk;
  }
  if (!reviewed.lane.tainted.empty()) {
    return Refuse(name, "it is tainted: " + EscapeControl(reviewed.lane.tainted),
                  "git maco worktree repair --untaint NOTE " + name);
  }
  if (reviewed.row.state == "unread") {
    return Refuse(name, "its candidate was not read yet", "git maco worktree show " + name);
  }
  if (reviewed.row.state != "read") {
    return Refuse(name, "its candidate was " + reviewed.row.state + " already",
                  "capture a new one");
  }
  const std::string unproven =
      UnprovenRuns(*reviewed.state, reviewed.table, reviewed.lane, reviewed.document);
  if (!unproven.empty() && options.unverified.empty()) {
    return Refuse(name, unproven, "--unverified NOTE takes it on your word");
  }
  if (options.dry_run) {
    MACO_TRY(Print("would accept candidate " + reviewed.row.id + "\n"));
    return kExitOk;
  }
  Candidate next = reviewed.row;
  next.state = "accepted";
  next.decided_us = WallMicros();
  next.decided_uid = getuid();
  next.note = options.note;
  next.unverified = unproven.empty() ? "" : options.unverified;
  MACO_TRY(Move(reviewed, next));
  return kExitOk;
}

Result<int> Reject(const Options& options) {
  Reviewed reviewed;
  MACO_ASSIGN(reviewed, OpenReviewed(options.names.front(), Access::kWrite));
  const std::string& name = reviewed.lane.name;
  if (reviewed.row.state == "unread") {
    return Refuse(name, "its candidate was not read yet", "git maco worktree show " + name);
  }
  if (reviewed.row.state != "read") {
    return Refuse(name, "its candidate was " + reviewed.row.state + " already", "");
  }
  if (options.dry_run) {
    MACO_TRY(Print("would reject candidate " + reviewed.row.id + "\n"));
    return kExitOk;
  }
  Candidate next = reviewed.row;
  next.state = "rejected";
  next.decided_us = WallMicros();
  next.decided_uid = getuid();
  next.note = options.reason;
  MACO_TRY(Move(reviewed, next));
  return kExitOk;
}

// Whether the lane still holds exactly what the candidate says; so a validation is bound to it.
Result<int> Check(const Options& options) {
  ReadyLane ready;
  MACO_ASSIGN(ready, OpenReadyLane(options.names.front(), Access::kRead, LeaseKind::kRead));
  Candidate row;
  MACO_ASSIGN(row, NewestCandidate(ready.table, ready.lane));
  if (!options.candidate.empty() && options.candidate != row.id) {
    return Refuse(ready.lane.name,
                  "its candidate is " + row.id + ", not " + EscapeControl(options.candidate), "");
  }
  Directory files;
  MACO_ASSIGN(files, OpenLaneDirectory(*ready.state, ready.lane.id));
  CandidateDocument document;
  MACO_ASSIGN(document, ReadCandidate(*ready.state, files, row));
  LaneTree tree;
  MACO_ASSIGN(tree,
              TakeLaneTree(LaneGit::Of(ready.place, ready.lane), ready.lane, Believe::kTimes));
  const bool same = tree.findings.empty() && tree.tree == document.tree;
  const std::string unproven = UnprovenRuns(*ready.state, ready.table, ready.lane, document);
  if (options.json) {
    MACO_TRY(PrintDocument("maco.lane-check/1", {{"lane", ready.lane.name},
                                                 {"candidate", row.id},
                                                 {"state", row.state},
                                                 {"same_tree", same},
                                                 {"unproven", EncodeBytes(unproven)},
                                                 {"tainted", EncodeBytes(ready.lane.tainted)}}));
  }
  if (!same) {
    return Refuse(ready.lane.name, "it does not hold what candidate " + row.id + " says",
                  "capture it again");
  }
  if (!options.json) {
    MACO_TRY(Print("candidate " + row.id + ", " + row.state + ": the lane holds exactly that" +
                   (unproven.empty() ? "" : "; " + EscapeControl(unproven)) + "\n"));
  }
  return kExitOk;
}

}  // namespace maco::worktree

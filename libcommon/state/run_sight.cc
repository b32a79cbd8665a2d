// Reading of one run's journal and evidence.
// Contract: libcommon/state/run_sight.h.
#include "libcommon/state/run_sight.h"

#include <fcntl.h>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/byte_codec.h"
#include "libcommon/base/random_id.h"
#include "libcommon/base/text.h"
#include "libcommon/log/log_reader.h"
#include "libcommon/os/bounded_read.h"
#include "libcommon/os/ofd_lock.h"
#include "libcommon/state/journals.h"
#include "libcommon/state/run_event.h"

namespace maco {
namespace {

constexpr std::size_t kMaxNames = 64;

// Takes one event. `digest` is what the last finishing one says about the evidence.
Result<void> TakeEvent(const LogEntry& entry, RunSight& sight) {
  Json event;
  MACO_ASSIGN(event, ParseEvent(entry.payload, entry.sequence));
  const std::string name = EventText(event, "event");
  if (!entry.named) {
    sight.unnamed_event = name;
    return {};
  }
  sight.finalization.reset();  // it is the last record, or none
  if (name == kRunFinalized) {
    MACO_ASSIGN(sight.finalization, DecodeFinalization(event));
    return {};
  }
  sight.last_event = name;
  if (const auto command = event.find("command"); name == kRunPlanned && command != event.end()) {
    sight.command = *command;
  }
  if (name == kCommandStarted) {
    sight.started_us = EventUint(event, "time_us");
  }
  if (IsFinishing(name)) {
    sight.evidence_sha256 = EventText(event, "evidence_sha256");
    sight.publishable = EventFlag(event, "publishable");
  }
  if (name == kCommandCompleted && event.contains("exit_status")) {
    sight.exit_status = EventUint(event, "exit_status");
  }
  if (name == kRunResolved) {
    sight.resolution = EventText(event, "outcome");
  }
  if (const auto worktree = event.find("worktree"); worktree != event.end()) {
    sight.worktree = *worktree;
  }
  return {};
}

Result<void> CheckEvidence(const StateRoot& state, const Key& key, const Directory& run,
                           const std::string& digest) {
  UniqueFd fd;
  MACO_ASSIGN(fd, run.OpenFile(kEvidencePath, O_RDONLY | O_NONBLOCK));
  FileIdentity identity;
  MACO_ASSIGN(identity, IdentityOf(fd.get()));
  MACO_TRY(RequirePrivateFile(identity, "evidence.json"));
  std::string text;
  MACO_ASSIGN(text, ReadAll(fd.get(), kMaxJsonBytes));
  if (ToHex(Sha256(AsBytes(text))) != digest) {
    return Fail(Code::kCorrupt, "is not the document that the journal names");
  }
  MACO_TRY(VerifyDocument(text, kMaxJsonBytes, key, kEvidenceSchema, state.repository_id()));
  return {};
}

// A directory that maco-run had only begun to fill has no journal, and nothing else either.
Result<void> ExplainMissingJournal(const Directory& run, Error error) {
  std::vector<std::string> names;
  MACO_ASSIGN(names, run.List(kMaxNames));
  if (error.code == Code::kNotFound && names.empty()) {
    return {};
  }
  return Fail(std::move(error));
}

Result<void> Read(const StateRoot& state, const Directory& runs, RunSight& sight) {
  if (!IsRandomId(sight.id)) {
    return Fail(Code::kCorrupt, "no run has such a name", "move it away");
  }
  Directory run;
  MACO_ASSIGN(run, runs.Open(sight.id));
  auto file = OpenLogFile(run, kRunLogName);
  if (!file) {
    return ExplainMissingJournal(run, std::move(file).error());
  }
  // The lock first: a run that ends in between then counts as running, never as uncertain.
  MACO_ASSIGN(sight.held, OfdLock::HeldByOther(file->get()));
  FileIdentity identity;
  MACO_ASSIGN(identity, IdentityOf(file->get()));
  JournalKey key;
  MACO_ASSIGN(key, KeyOfJournal(state, file->get(), sight.id));
  auto reader = LogReader::FromFd(*std::move(file), *key.key, key.identity);
  if (!reader) {
    return Fail(std::move(reader).error());
  }
  for (;;) {
    std::optional<LogEntry> entry;
    MACO_ASSIGN(entry, reader->Next());
    if (!entry) {
      break;
    }
    sight.records = entry->sequence;
    MACO_TRY(TakeEvent(*entry, sight));
  }
  sight.copied = sight.finalization &&
                 CopiedSince(*sight.finalization, identity.inode, state.identity().rebinds);
  if (IsFinishing(sight.last_event) && !sight.held) {
    if (const auto evidence = CheckEvidence(state, *key.key, run, sight.evidence_sha256);
        !evidence) {
      sight.evidence_failure = evidence.error().message;
    }
  }
  return {};
}

}  // namespace

RunSight LookAtRun(const StateRoot& state, const Directory& runs, const std::string& id) {
  RunSight sight;
  sight.id = id;
  if (auto read = Read(state, runs, sight); !read) {
    sight.error = std::move(read).error();
  }
  return sight;
}

RunSight LookAtRun(const StateRoot& state, const std::string& id) {
  const auto runs = state.dir().Open(kRunsName);
  const auto missing = [](const auto& result) {
    return !result && result.error().code == Code::kNotFound;
  };
  RunSight sight;
  sight.id = id;
  if (missing(runs) || (runs && missing(runs->Stat(id)))) {
    return sight;
  }
  if (!runs) {
    sight.error = runs.error();
    return sight;
  }
  return LookAtRun(state, *runs, id);
}

RunVerdict Conclude(const RunSight& sight) {
  if (sight.error) {
    return {RunKind::kDamaged, sight.error->message,
            sight.error->code == Code::kTornTail
                ? "git maco journal repair --cut-torn-tail run/" + sight.id
                : "git maco journal verify run/" + sight.id};
  }
  if (sight.held) {
    return {RunKind::kRunning, "", ""};
  }
  if (sight.last_event == kRunResolved) {
    return {RunKind::kIdle, "", ""};
  }
  const std::string resolve = "find out what it did, then: git maco journal resolve " + sight.id;
  // A start that no head names was never acted on, but whoever cut it short may have done more.
  const bool started_unnamed = sight.unnamed_event == kCommandStarted;
  if (sight.last_event == kCommandStarted || started_unnamed) {
    return {RunKind::kUncertain, "started, with no end on record; it may have run in part",
            resolve};
  }
  if (IsFinishing(sight.last_event)) {
    return sight.evidence_failure.empty()
               ? RunVerdict{RunKind::kIdle, "", ""}
               : RunVerdict{RunKind::kUncertain,
                            sight.last_event +
                                ", but its evidence does not count: " + sight.evidence_failure,
                            resolve};
  }
  if (sight.last_event.empty() || sight.last_event == kRunPlanned) {
    return {RunKind::kIdle, "", ""};
  }
  return {RunKind::kUncertain,
          "its last event '" + sight.last_event + "' is not known to this version",
          "look at it with the version that wrote it"};
}

}  // namespace maco

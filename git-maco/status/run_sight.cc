// Reading of one run's journal and evidence.
// Contract: git-maco/status/run_sight.h.
#include "git-maco/status/run_sight.h"

#include <fcntl.h>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/byte_codec.h"
#include "libcommon/base/random_id.h"
#include "libcommon/base/text.h"
#include "libcommon/log/log_reader.h"
#include "libcommon/os/bounded_read.h"
#include "libcommon/os/ofd_lock.h"

namespace maco::status {
namespace {

constexpr char kJournalName[] = "run.log";
constexpr char kEvidenceDomain[] = "maco.evidence/1";
constexpr std::size_t kMaxEventBytes = std::size_t{1} << 20U;
constexpr std::size_t kMaxNames = 64;

std::string Text(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// Takes one event. `digest` is what the last finishing one says about the evidence.
Result<void> TakeEvent(const LogEntry& entry, RunSight& sight, std::string& digest) {
  Json event;
  MACO_ASSIGN(event, ParseJson(AsText(entry.payload), kMaxEventBytes));
  const std::string name = event.is_object() ? Text(event, "event") : std::string();
  if (name.empty()) {
    return Fail(Code::kCorrupt,
                "record " + std::to_string(entry.sequence) + " of its journal is no event");
  }
  if (!entry.named) {
    sight.unnamed_event = name;
    return {};
  }
  sight.last_event = name;
  digest = Text(event, "evidence_sha256");
  if (const auto requested = event.find("requested");
      requested != event.end() && requested->is_object() && requested->contains("command")) {
    sight.command = (*requested)["command"];
  }
  if (name == "command_started" && event.contains("time_us") &&
      event["time_us"].is_number_unsigned()) {
    sight.started_us = event["time_us"].get<std::uint64_t>();
  }
  return {};
}

Result<void> CheckEvidence(const StateRoot& state, const Directory& run,
                           const std::string& digest) {
  UniqueFd fd;
  MACO_ASSIGN(fd, run.OpenFile("trusted/evidence.json", O_RDONLY | O_NONBLOCK));
  FileIdentity identity;
  MACO_ASSIGN(identity, IdentityOf(fd.get()));
  MACO_TRY(RequirePrivateFile(identity, "evidence.json"));
  std::string text;
  MACO_ASSIGN(text, ReadAll(fd.get(), kMaxJsonBytes));
  if (ToHex(Sha256(AsBytes(text))) != digest) {
    return Fail(Code::kCorrupt, "is not the document that the journal names");
  }
  MACO_TRY(
      VerifyDocument(text, kMaxJsonBytes, state.key(), kEvidenceDomain, state.repository_id()));
  return {};
}

bool IsFinished(const std::string& event) {
  return event == "command_completed" || event == "command_unproven" || event == "run_refused";
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
  auto file = OpenLogFile(run, kJournalName);
  if (!file) {
    return ExplainMissingJournal(run, std::move(file).error());
  }
  // The lock first: a run that ends in between then counts as running, never as uncertain.
  MACO_ASSIGN(sight.held, OfdLock::HeldByOther(file->get()));
  auto reader = LogReader::FromFd(*std::move(file), state.key(), {state.repository_id(), sight.id});
  if (!reader) {
    return Fail(std::move(reader).error());
  }
  std::string digest;
  for (;;) {
    std::optional<LogEntry> entry;
    MACO_ASSIGN(entry, reader->Next());
    if (!entry) {
      break;
    }
    MACO_TRY(TakeEvent(*entry, sight, digest));
  }
  if (IsFinished(sight.last_event) && !sight.held) {
    if (const auto evidence = CheckEvidence(state, run, digest); !evidence) {
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

RunVerdict Conclude(const RunSight& sight) {
  if (sight.error) {
    return {RunKind::kDamaged, sight.error->message,
            sight.error->remedy.empty() ? "git maco journal verify" : sight.error->remedy};
  }
  if (sight.held) {
    return {RunKind::kRunning, "", ""};
  }
  const std::string resolve = "find out what it did, then: git maco journal resolve " + sight.id;
  // A start that no head names was never acted on, but whoever cut it short may have done more.
  const bool started_unnamed = sight.unnamed_event == "command_started";
  if (sight.last_event == "command_started" || started_unnamed) {
    return {RunKind::kUncertain, "started, with no end on record; it may have run in part",
            resolve};
  }
  if (IsFinished(sight.last_event)) {
    return sight.evidence_failure.empty()
               ? RunVerdict{RunKind::kIdle, "", ""}
               : RunVerdict{RunKind::kUncertain,
                            sight.last_event +
                                ", but its evidence does not count: " + sight.evidence_failure,
                            resolve};
  }
  if (sight.last_event.empty() || sight.last_event == "run_planned") {
    return {RunKind::kIdle, "", ""};
  }
  return {RunKind::kUncertain,
          "its last event '" + sight.last_event + "' is not known to this version",
          "look at it with the version that wrote it"};
}

}  // namespace maco::status

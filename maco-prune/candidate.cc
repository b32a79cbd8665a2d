// Locking, verifying, moving.
// Contract: maco-prune/candidate.h.
#include "maco-prune/candidate.h"

#include <fcntl.h>

#include <thread>

#include "libcommon/base/clock.h"
#include "libcommon/base/text.h"
#include "libcommon/os/ofd_lock.h"
#include "libcommon/state/journals.h"
#include "libcommon/state/run_event.h"

namespace maco::prune {
namespace {

constexpr std::chrono::seconds kWait{5};
constexpr std::chrono::milliseconds kBetween{20};

// The journal's file, locked as its writer locks it.
Result<UniqueFd> LockWriter(const Directory& run) {
  UniqueFd fd;
  MACO_ASSIGN(fd, run.OpenFile(kRunLogName, O_RDWR | O_NONBLOCK));
  FileIdentity identity;
  MACO_ASSIGN(identity, IdentityOf(fd.get()));
  MACO_TRY(RequirePrivateFile(identity, kRunLogName));
  const auto end = Monotonic::now() + kWait;
  for (;;) {
    const auto locked = OfdLock::TryLock(fd.get());
    if (locked) {
      return fd;
    }
    if (locked.error().code != Code::kBusy || Monotonic::now() > end) {
      return Fail(locked.error());
    }
    std::this_thread::sleep_for(kBetween);
  }
}

}  // namespace

Result<Candidate> VerifyCandidate(const StateRoot& state, const Directory& runs,
                                  const RetainedRun& run, bool lock) {
  Candidate out;
  out.run = run;
  Directory directory;
  MACO_ASSIGN(directory, runs.Open(run.id));
  if (lock) {
    MACO_ASSIGN(out.lock, LockWriter(directory));
  }
  FileIdentity identity;
  MACO_ASSIGN(identity, directory.Identity());
  MACO_TRY(RequirePrivateDirectory(identity, "runs/" + run.id));
  // By the very description that is locked: to another one our own lock looks like a writer's.
  UniqueFd file;
  if (lock) {
    MACO_ASSIGN(file, Duplicate(out.lock.get()));
  } else {
    MACO_ASSIGN(file, OpenLogFile(directory, kRunLogName));
  }
  auto reader = ReaderOf(state, std::move(file), run.id);
  if (!reader) {
    return Fail(std::move(reader).error());
  }
  Json last;
  std::string event;
  for (;;) {
    std::optional<LogEntry> entry;
    MACO_ASSIGN(entry, reader->Next());
    if (!entry) {
      break;
    }
    out.record.records = entry->sequence;
    MACO_ASSIGN(last, ParseEvent(entry->payload, entry->sequence));
  }
  if (reader->ends().verdict != LogVerdict::kClean || EventText(last, "event") != kRunFinalized) {
    return Fail(Code::kCorrupt, "its journal does not end with a final record",
                "git maco journal verify run/" + run.id);
  }
  Finalization finalization;
  MACO_ASSIGN(finalization, DecodeFinalization(last));
  MACO_TRY(CheckFinalization(directory, finalization));
  out.record.run = run.id;
  out.record.inode = identity.inode;
  out.record.last_mac = ToHex(reader->last_mac());
  out.record.bytes = finalization.bytes();
  out.record.files = finalization.files.size() + 1;
  out.record.reason = run.reason;
  return out;
}

std::string EntryName(const std::string& run, std::uint64_t inode) {
  return run + "." + std::to_string(inode);
}

Result<void> MoveToQuarantine(const Directory& runs, const Directory& quarantine,
                              const Candidate& candidate) {
  const std::string name = EntryName(candidate.run.id, candidate.record.inode);
  MACO_TRY(runs.Move(candidate.run.id, quarantine, name, Directory::IfThere::kKeep));
  FileIdentity moved;
  MACO_ASSIGN(moved, quarantine.Stat(name));
  if (moved.inode != candidate.record.inode) {
    return Fail(Code::kCorrupt,
                "run " + candidate.run.id + " was exchanged while it was moved away",
                "git maco prune inspect " + name);
  }
  return {};
}

}  // namespace maco::prune

// Locking, verifying, moving.
// Contract: maco-prune/candidate.h.
#include "maco-prune/candidate.h"

#include <fcntl.h>
#include <sys/stat.h>

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

struct FinalRecord {
  Finalization finalization;
  std::uint64_t records = 0;
  std::string last_mac;
};

// What a journal ends with, all of it verified.
Result<FinalRecord> ReadFinal(const StateRoot& state, UniqueFd file, const std::string& run) {
  FileIdentity identity;
  MACO_ASSIGN(identity, IdentityOf(file.get()));
  auto reader = ReaderOf(state, std::move(file), run);
  if (!reader) {
    return Fail(std::move(reader).error());
  }
  FinalRecord out;
  Json last;
  for (;;) {
    std::optional<LogEntry> entry;
    MACO_ASSIGN(entry, reader->Next());
    if (!entry) {
      break;
    }
    out.records = entry->sequence;
    if (out.records == reader->last_sequence()) {
      MACO_ASSIGN(last, ParseEvent(entry->payload, entry->sequence));
    }
  }
  if (reader->ends().verdict != LogVerdict::kClean || EventText(last, "event") != kRunFinalized) {
    return Fail(Code::kCorrupt, "its journal does not end with a final record",
                "git maco journal verify run/" + run);
  }
  MACO_ASSIGN(out.finalization, DecodeFinalization(last));
  if (out.finalization.journal_inode != identity.inode) {
    return Fail(Code::kCorrupt, "its journal is another file than its writer had");
  }
  out.last_mac = ToHex(reader->last_mac());
  return out;
}

// To move a directory to another one its owner must be able to write to it.
Result<void> MakeMovable(const Directory& runs, const Candidate& candidate) {
  Directory run;
  MACO_ASSIGN(run, runs.Open(candidate.run.id));
  FileIdentity identity;
  MACO_ASSIGN(identity, run.Identity());
  if (identity.inode != candidate.record.inode) {
    return Fail(Code::kCorrupt, "the run was exchanged after it was verified");
  }
  if (fchmod(run.fd(), S_IRWXU) != 0) {
    return FailOs(errno, "open up", candidate.run.id);
  }
  return {};
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
  FinalRecord last;
  MACO_ASSIGN(last, ReadFinal(state, std::move(file), run.id));
  MACO_TRY(CheckFinalization(directory, state.identity().rebinds, last.finalization));
  out.record.run = run.id;
  out.record.inode = identity.inode;
  out.record.records = last.records;
  out.record.last_mac = last.last_mac;
  out.record.bytes = last.finalization.bytes();
  out.record.files = last.finalization.files.size() + 1;
  out.record.reason = run.reason;
  return out;
}

Result<void> RequireWhole(const StateRoot& state, const Directory& directory,
                          const std::string& run) {
  UniqueFd file;
  MACO_ASSIGN(file, OpenLogFile(directory, kRunLogName));
  FinalRecord last;
  MACO_ASSIGN(last, ReadFinal(state, std::move(file), run));
  for (const auto& expected : last.finalization.files) {
    const auto there = directory.OpenFile(expected.path, O_PATH);
    if (!there) {
      return Fail(Code::kRefused, "'" + EscapeControl(expected.path) + "' of it is gone already");
    }
  }
  return {};
}

std::string EntryName(const std::string& run, std::uint64_t inode) {
  return run + "." + std::to_string(inode);
}

Result<void> MoveToQuarantine(const Directory& runs, const Directory& quarantine,
                              const Candidate& candidate) {
  const std::string name = EntryName(candidate.run.id, candidate.record.inode);
  const auto move = [&] {
    return runs.Move(candidate.run.id, quarantine, name, Directory::IfThere::kKeep);
  };
  if (auto done = move(); !done) {
    if (done.error().code != Code::kPermission) {
      return done;
    }
    MACO_TRY(MakeMovable(runs, candidate));
    MACO_TRY(move());
  }
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

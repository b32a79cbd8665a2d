// Encoding, safe places and checks of checkpoints.
// Contract: maco-journal/checkpoint_file.h.
#include "maco-journal/checkpoint_file.h"

#include <fcntl.h>

#include <algorithm>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/byte_codec.h"
#include "libcommon/base/clock.h"
#include "libcommon/base/text.h"
#include "libcommon/os/atomic_file.h"
#include "libcommon/os/bounded_read.h"
#include "libcommon/state/journals.h"
#include "libcommon/state/run_event.h"

namespace maco::journal {
namespace {

constexpr char kDomain[] = "maco.checkpoint/3";
constexpr std::uint64_t kVersion = 3;

struct FilePlace {
  Directory directory;  // one capability for all that follows
  std::string name;
};

Result<FilePlace> PlaceOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  FilePlace place;
  place.name = path.substr(slash + 1);  // npos + 1 is 0
  if (place.name.empty() || place.name == "." || place.name == "..") {
    return Fail(Code::kInvalid, "'" + path + "' names no file");
  }
  MACO_ASSIGN(place.directory,
              Directory::OpenPath(slash == std::string::npos ? "." : path.substr(0, slash + 1)));
  FileIdentity identity;
  MACO_ASSIGN(identity, place.directory.Identity());
  auto is_private = RequirePrivateDirectory(identity, "the checkpoint's directory");
  if (!is_private) {
    Error error = std::move(is_private).error();
    error.remedy = "make a directory for it: mkdir -m 700 DIR";
    return Fail(std::move(error));
  }
  return place;
}

Error Malformed() {
  return MakeError(Code::kCorrupt, "the checkpoint is malformed",
                   "use 'git maco journal resume RUN' instead");
}

// Read before the MAC, only to tell another version from damage.
Result<void> CheckVersion(const Json& document) {
  if (!document.is_object() || !document.contains("version") ||
      !document["version"].is_number_unsigned()) {
    return Fail(Malformed());
  }
  const auto version = document["version"].get<std::uint64_t>();
  if (version < kVersion) {
    return Fail(Code::kUnsupported,
                "checkpoints of version " + std::to_string(version) + " cannot be resumed",
                "begin a new run");
  }
  if (version > kVersion) {
    return Fail(Code::kUnsupported, "the checkpoint was written by a newer git-maco",
                "upgrade git-maco");
  }
  return {};
}

}  // namespace

Result<void> WriteCheckpoint(const StateRoot& state, const CheckpointFile& checkpoint,
                             const std::string& path) {
  FilePlace place;
  MACO_ASSIGN(place, PlaceOf(path));
  if (const auto there = place.directory.Stat(place.name)) {
    MACO_TRY(RequirePrivateFile(*there, path));
  }
  std::string text;
  MACO_ASSIGN(text, SignDocument({{"schema", kDomain},
                                  {"version", kVersion},
                                  {"repository", state.repository_id()},
                                  {"epoch", state.epoch()},
                                  {"run", checkpoint.run},
                                  {"sequence", checkpoint.sequence},
                                  {"record_mac", checkpoint.mac},
                                  {"time_us", checkpoint.time_us}},
                                 state.key(), kDomain, state.repository_id()));
  return WriteAtomically(place.directory, place.name, AsBytes(text + "\n"));
}

Result<CheckpointFile> ReadCheckpoint(const StateRoot& state, const std::string& path) {
  FilePlace place;
  MACO_ASSIGN(place, PlaceOf(path));
  UniqueFd fd;
  MACO_ASSIGN(fd, place.directory.OpenFile(place.name, O_RDONLY | O_NONBLOCK));
  FileIdentity identity;
  MACO_ASSIGN(identity, IdentityOf(fd.get()));
  MACO_TRY(RequirePrivateFile(identity, path));
  std::string text;
  MACO_ASSIGN(text, ReadAll(fd.get(), kMaxCheckpointBytes));
  const auto unverified = ParseJson(text, kMaxCheckpointBytes);
  if (!unverified) {
    return Fail(Malformed());
  }
  MACO_TRY(CheckVersion(*unverified));
  const std::uint64_t epoch = EventUint(*unverified, "epoch");
  const Key* key = nullptr;
  MACO_ASSIGN(key, state.KeyOf(static_cast<std::uint32_t>(std::min<std::uint64_t>(epoch, ~0U))));
  auto document = VerifyDocument(text, kMaxCheckpointBytes, *key, kDomain, state.repository_id());
  if (!document) {
    return Fail(Code::kCorrupt, "the checkpoint does not verify: changed, or of another repository",
                "use 'git maco journal resume RUN' instead");
  }
  CheckpointFile checkpoint;
  checkpoint.run = EventText(*document, "run");
  checkpoint.sequence = EventUint(*document, "sequence");
  checkpoint.mac = EventText(*document, "record_mac");
  checkpoint.time_us = EventUint(*document, "time_us");
  if (!IsPlainName(checkpoint.run)) {
    return Fail(Malformed());
  }
  return checkpoint;
}

Result<void> CheckAgainstJournal(const StateRoot& state, const CheckpointFile& checkpoint) {
  const Journal journal = Journal::OfSteps(checkpoint.run);
  auto reader = OpenForReading(state, journal);
  if (!reader) {
    return Fail(std::move(reader).error());
  }
  std::string found;
  for (;;) {
    std::optional<LogEntry> entry;
    MACO_ASSIGN(entry, reader->Next());
    if (!entry) {
      break;
    }
    if (entry->sequence == checkpoint.sequence) {
      found = ToHex(entry->mac);
    }
  }
  if (found != checkpoint.mac) {
    return Fail(Code::kCorrupt,
                "journal '" + journal.name + "' does not hold record " +
                    std::to_string(checkpoint.sequence) +
                    " of the checkpoint: it was put back to an older state, or replaced",
                "find out who put old state back");
  }
  return {};
}

Result<CheckpointFile> PresentCheckpoint(const StateRoot& state, const std::string& run) {
  if (!IsPlainName(run)) {
    return Fail(Code::kInvalid, "'" + EscapeControl(run) + "' is no name of a run with steps");
  }
  const Journal journal = Journal::OfSteps(run);
  auto summary = Verify(state, journal);
  if (!summary) {
    return Fail(summary.error().code == Code::kNotFound
                    ? MakeError(Code::kNotFound, "there is no run with steps named '" + run + "'",
                                "'git maco journal list' names them")
                    : std::move(summary).error());
  }
  if (!summary->intact() || summary->records == 0) {
    return Fail(Code::kCorrupt, "journal '" + journal.name + "' does not verify",
                "git maco journal verify " + journal.name);
  }
  return CheckpointFile{run, summary->records, ToHex(summary->last_mac), WallMicros()};
}

}  // namespace maco::journal

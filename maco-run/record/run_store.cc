// Creation of a run's directory, journal events, evidence.
// Contract: maco-run/record/run_store.h.
#include "maco-run/record/run_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <vector>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/byte_codec.h"
#include "libcommon/base/clock.h"
#include "libcommon/os/atomic_file.h"
#include "libcommon/state/finalization.h"
#include "libcommon/state/run_event.h"
#include "maco-run/record/judge.h"

namespace maco::run {
namespace {

constexpr int kNewFile = O_RDWR | O_CREAT | O_EXCL;
constexpr char kEvidenceName[] = "evidence.json";
constexpr char kResultName[] = "result";

// The path that a descriptor has now, see proc(5). Only for what must be named to systemd.
Result<std::string> PathOf(int fd) {
  std::array<char, 4096> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t n = readlink(link.c_str(), path.data(), path.size());
  if (n <= 0 || static_cast<std::size_t>(n) == path.size()) {
    return FailOs(errno, "find the path of a descriptor");
  }
  return std::string(path.data(), static_cast<std::size_t>(n));
}

}  // namespace

Result<RunStore> RunStore::Create(const StateRoot& state, const std::string& run_id) {
  Directory runs;
  MACO_ASSIGN(runs, state.dir().OpenOrCreate(kRunsName, 0700));
  FileIdentity identity;
  MACO_ASSIGN(identity, runs.Identity());
  MACO_TRY(RequirePrivateDirectory(identity, "maco/runs"));
  Directory run;
  MACO_ASSIGN(run, runs.Create(run_id, 0700));
  auto journal = LogWriter::Create(run, kRunLogName, state.key(),
                                   {state.repository_id(), run_id, state.epoch()});
  if (!journal) {
    return Fail(std::move(journal).error());
  }
  RunStore store(std::move(*journal));
  store.run_ = std::move(run);
  store.id_ = run_id;
  store.rebinds_ = state.identity().rebinds;
  // With the lock held: from here on whoever finds the entry without a lock finds a dead run.
  MACO_ASSIGN(store.live_, state.dir().OpenOrCreate(kLiveName, 0700));
  MACO_TRY(store.live_.OpenFile(run_id, kNewFile, 0600));
  MACO_ASSIGN(store.trusted_, store.run_.Create("trusted", 0700));
  MACO_ASSIGN(store.incoming_, store.run_.Create("incoming", 0700));
  MACO_ASSIGN(store.stdout_log_, store.trusted_.OpenFile("stdout.log", kNewFile, 0600));
  MACO_ASSIGN(store.stderr_log_, store.trusted_.OpenFile("stderr.log", kNewFile, 0600));
  MACO_TRY(store.trusted_.OpenFile(kEvidenceName, kNewFile, 0600));
  MACO_ASSIGN(store.result_, store.incoming_.OpenFile(kResultName, kNewFile, 0600));
  MACO_ASSIGN(store.result_identity_, IdentityOf(store.result_.get()));
  MACO_ASSIGN(store.result_path_, PathOf(store.result_.get()));
  // The names are durable before anything is written that points at them.
  for (const Directory* directory : {&store.trusted_, &store.incoming_, &store.run_, &runs}) {
    MACO_TRY(directory->Sync());
  }
  MACO_TRY(state.dir().Sync());  // which may have got its runs directory just now
  return store;
}

Result<std::uint64_t> RunStore::Append(Json event) {
  event["schema"] = "maco.run-event/1";
  event["time_us"] = WallMicros();
  std::string text;
  MACO_ASSIGN(text, Canonicalize(event));
  return journal_.Append(AsBytes(text), Durability::kRecordAndHead);
}

Result<std::string> RunStore::Finish(Json event) {
  const auto finalization =
      TakeFinalization(run_, rebinds_, EventFlag(event, "publishable"), EventText(event, "event"));
  if (!finalization) {
    MACO_TRY(Append(std::move(event)));
    return Describe(finalization.error());
  }
  Json last = Encode(*finalization);
  std::vector<std::string> texts;
  for (Json* each : {&event, &last}) {
    (*each)["schema"] = "maco.run-event/1";
    (*each)["time_us"] = WallMicros();
    std::string text;
    MACO_ASSIGN(text, Canonicalize(*each));
    texts.push_back(std::move(text));
  }
  const std::array<std::span<const std::uint8_t>, 2> batch{AsBytes(texts[0]), AsBytes(texts[1])};
  MACO_TRY(journal_.AppendGroup(batch, Durability::kRecordAndHead));
  return std::string();
}

Result<std::string> RunStore::WriteEvidence(const StateRoot& state, const Json& evidence) {
  // What the evidence speaks of is on disk before the evidence is.
  for (const int fd : {stdout_log_.get(), stderr_log_.get(), result_.get()}) {
    MACO_TRY(SyncData(fd));
  }
  std::string text;
  MACO_ASSIGN(text, SignDocument(evidence, state.key(), kEvidenceDomain, state.repository_id()));
  MACO_TRY(WriteAtomically(trusted_, kEvidenceName, AsBytes(text)));
  return text;
}

Result<void> RunStore::Close() {
  MACO_TRY(live_.Unlink(id_));
  return journal_.Close();
}

bool RunStore::ResultNameLeadsToIt() const {
  const auto named = incoming_.Stat(kResultName);
  return named && named->SameFile(result_identity_);
}

}  // namespace maco::run

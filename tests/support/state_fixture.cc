// Runs and steps as maco-run leaves them, for tests of the tools that read them on any host.
// usage: state_fixture COMMON_DIR run [EVENT]...              prints the id of a new run; EVENT may
//        be files=N (plain files that it leaves) and age=SECONDS (of all later events)
//        state_fixture COMMON_DIR step RUN STEP EXIT [EVENT]...   the same, as a step of a named
//        run
//        state_fixture COMMON_DIR store NAME ROWS JOURNALS   a store with that many rows, and
//        journals
//        state_fixture COMMON_DIR row NAME KEY JSON          a row of a store

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/auth/state_root.h"
#include "libcommon/base/byte_codec.h"
#include "libcommon/base/clock.h"
#include "libcommon/base/random_id.h"
#include "libcommon/base/report.h"
#include "libcommon/base/text.h"
#include "libcommon/git/repository.h"
#include "libcommon/os/atomic_file.h"
#include "libcommon/state/finalization.h"
#include "libcommon/state/journals.h"
#include "libcommon/state/run_event.h"
#include "libcommon/state/steps.h"
#include "libcommon/store/store.h"

namespace {

using namespace maco;

struct Plan {
  std::string id;
  std::vector<std::string> events;
  std::uint64_t exit_status = 0;
  Json worktree;  // null: none is recorded
};

constexpr std::string_view kFiles = "files=";
constexpr std::string_view kAge = "age=";
constexpr std::uint64_t kSecond = 1'000'000;

// Files of a KiB each, a hundred to a directory.
Result<void> MakeFiles(const Directory& trusted, std::uint64_t count) {
  constexpr std::uint64_t kEach = 100;
  Directory directory;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i % kEach == 0) {
      MACO_ASSIGN(directory, trusted.Create("d" + std::to_string(i / kEach), 0700));
    }
    UniqueFd fd;
    MACO_ASSIGN(fd, directory.OpenFile("f" + std::to_string(i), O_WRONLY | O_CREAT, 0600));
    std::string text = std::to_string(i);
    text.resize(1024, 'x');
    MACO_TRY(WriteAll(fd.get(), AsBytes(text)));
  }
  return {};
}

Result<void> MakeRun(const StateRoot& state, const Plan& plan) {
  const Journal journal = Journal::OfRun(plan.id);
  MACO_TRY(state.dir().OpenOrCreate(kRunsName, 0700));
  auto log = OpenOrCreate(state, journal);
  if (!log) {
    return Fail(std::move(log).error());
  }
  Directory run;
  MACO_ASSIGN(run, OpenJournalDirectory(state, journal));
  Directory trusted;
  MACO_ASSIGN(trusted, run.Create("trusted", 0700));
  std::string evidence;
  MACO_ASSIGN(evidence, SignDocument({{"run", plan.id}}, state.key(), kEvidenceSchema,
                                     state.repository_id()));
  MACO_TRY(WriteAtomically(trusted, "evidence.json", AsBytes(evidence)));
  std::uint64_t time_us = WallMicros();
  std::string last;
  for (const auto& name : plan.events) {
    if (name.starts_with(kFiles)) {
      MACO_TRY(MakeFiles(trusted, *ParseUint(name.substr(kFiles.size()))));
      continue;
    }
    if (name.starts_with(kAge)) {
      time_us -= *ParseUint(name.substr(kAge.size())) * kSecond;
      continue;
    }
    if (name == kRunFinalized) {
      Finalization finalization;
      MACO_ASSIGN(finalization,
                  TakeFinalization(run, state.identity().rebinds, last == kCommandCompleted, last));
      Json event = Encode(finalization);
      event["schema"] = "maco.run-event/1";
      event["time_us"] = time_us;
      std::string text;
      MACO_ASSIGN(text, Canonicalize(event));
      MACO_TRY(log->Append(AsBytes(text), Durability::kRecordAndHead));
      continue;
    }
    last = name;
    Json event = {{"schema", "maco.run-event/1"}, {"event", name}, {"time_us", time_us}};
    if (name == kRunPlanned) {
      event["command"] = {"make", "all"};
    }
    if (IsFinishing(name)) {
      event["evidence_sha256"] = ToHex(Sha256(AsBytes(evidence)));
      event["publishable"] = name == kCommandCompleted;
    }
    if (name == kCommandCompleted || name == kCommandUnproven) {
      event["exit_status"] = plan.exit_status;
      if (!plan.worktree.is_null()) {
        event["worktree"] = plan.worktree;
      }
    }
    std::string text;
    MACO_ASSIGN(text, Canonicalize(event));
    MACO_TRY(log->Append(AsBytes(text), Durability::kRecordAndHead));
  }
  return log->Close();
}

Result<void> MakeStep(const StateRoot& state, const std::string& run, const std::string& step,
                      Plan& plan) {
  Repository repository;
  MACO_ASSIGN(repository, FindRepository());
  StepAttempt attempt;
  attempt.step = step;
  attempt.run = plan.id;
  attempt.command_sha256 = std::string(64, '0');
  attempt.time_us = WallMicros();
  attempt.place = {repository.git_dir, repository.worktree, {repository.worktree}, {}};
  MACO_ASSIGN(attempt.before, CaptureWorktree(attempt.place));
  plan.worktree = attempt.before;
  std::string text;
  MACO_ASSIGN(text, Canonicalize(EncodeAttempt(attempt)));
  auto log = OpenOrCreate(state, Journal::OfSteps(run));
  if (!log) {
    return Fail(std::move(log).error());
  }
  MACO_TRY(log->Append(AsBytes(text), Durability::kRecordAndHead));
  return log->Close();
}

Result<void> MakeStore(const StateRoot& state, const std::string& name, unsigned long rows,
                       unsigned long journals) {
  StoreOptions options;
  options.create = true;
  auto store = Store::Open(StoreAccess::Of(state), name, options);
  if (!store) {
    return Fail(std::move(store).error());
  }
  for (unsigned long journal = 1;; ++journal) {
    for (unsigned long row = 0; row < rows; ++row) {
      StoreChange change;
      change.put["row" + std::to_string(row)] = {{"journal", journal}};
      MACO_TRY(store->Commit(change, Durability::kRecordAndHead));
    }
    if (journal >= journals) {
      return store->Close();
    }
    MACO_TRY(store->Rollover());
  }
}

Result<void> MakeRow(const StateRoot& state, const std::string& name, const std::string& key,
                     const std::string& json) {
  StoreOptions options;
  options.create = true;
  auto store = Store::Open(StoreAccess::Of(state), name, options);
  if (!store) {
    return Fail(std::move(store).error());
  }
  StoreChange change;
  change.put[key] = Json::parse(json);
  MACO_TRY(store->Commit(change, Durability::kRecordAndHead));
  return store->Close();
}

Result<void> Make(const std::vector<std::string>& words) {
  Directory common_dir;
  MACO_ASSIGN(common_dir, Directory::OpenPath(words.at(0)));
  auto state = StateRoot::Open(common_dir, IfMoved::kRefuse, Access::kWrite);
  if (!state) {
    return Fail(std::move(state).error());
  }
  const auto number = [&words](std::size_t at) {
    return std::strtoul(words.at(at).c_str(), nullptr, 10);
  };
  if (words.at(1) == "store") {
    return MakeStore(*state, words.at(2), number(3), number(4));
  }
  if (words.at(1) == "row") {
    return MakeRow(*state, words.at(2), words.at(3), words.at(4));
  }
  Plan plan;
  MACO_ASSIGN(plan.id, RandomId());
  std::size_t first_event = 2;
  if (words.at(1) == "step") {
    plan.exit_status = number(4);
    MACO_TRY(MakeStep(*state, words.at(2), words.at(3), plan));
    first_event = 5;
  }
  plan.events.assign(words.begin() + static_cast<std::ptrdiff_t>(first_event), words.end());
  MACO_TRY(MakeRun(*state, plan));
  std::puts(plan.id.c_str());
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    return 64;
  }
  const auto made = Make({argv + 1, argv + argc});
  if (!made) {
    maco::Report("state_fixture", made.error());
    return 1;
  }
  return 0;
}

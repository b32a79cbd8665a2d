// `git maco prune`: the policy's decision, carried out in batches.
#include <algorithm>
#include <atomic>
#include <thread>

#include "libcommon/base/clock.h"
#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"
#include "libcommon/base/text.h"
#include "libcommon/cli/document.h"
#include "libcommon/cli/output.h"
#include "libcommon/lane/needed_runs.h"
#include "libcommon/state/run_event.h"
#include "maco-prune/candidate.h"
#include "maco-prune/obstacle.h"
#include "maco-prune/place.h"
#include "maco-prune/quarantine.h"
#include "maco-prune/verbs.h"

namespace maco::prune {
namespace {

constexpr std::size_t kBatch = 64;             // runs that are locked at once
constexpr std::size_t kVerifyDescriptors = 8;  // for one run, but for its lock

// What a prune did, or would do.
struct Outcome {
  std::vector<RetainedRun> runs;  // with final decisions
  std::vector<std::string> stuck;

  // Bytes that are free now, or would be.
  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const auto& run : runs) {
      sum += run.deleted ? run.bytes : 0;
    }
    return sum;
  }
};

// A run that was to be deleted and is not.
void Keep(Outcome& report, const std::string& id, const std::string& reason) {
  const auto run = std::ranges::find(report.runs, id, &RetainedRun::id);
  if (run != report.runs.end()) {
    run->deleted = false;
    run->held_back = run->reason = reason;
  }
}

// Deletes entries of the quarantine, and says so in the log.
Result<void> Remove(const StateRoot& state, const Directory& quarantine,
                    const std::vector<Entry>& entries, Outcome& report) {
  std::vector<std::string> done;
  for (const auto& removal : RemoveEntries(quarantine, entries, Names::kPlainOnly)) {
    if (removal.result) {
      done.push_back(removal.entry.run);
    } else {
      const std::string& why = removal.result.error().message;
      report.stuck.push_back(removal.entry.name + ": " + why);
      Keep(report, removal.entry.run, "stuck in the quarantine: " + why);
    }
  }
  return done.empty() ? Result<void>() : RecordPruneEnded(state, done, "deleted");
}

Result<void> FinishOld(const StateRoot& state, const Directory& quarantine, bool dry_run,
                       Outcome& report) {
  std::vector<Entry> entries;
  MACO_ASSIGN(entries, ListQuarantine(state, quarantine));
  std::vector<Entry> ours;
  for (auto& entry : entries) {
    if (dry_run && entry.stuck.empty()) {
      entry.stuck = FindObstacle(quarantine, entry.name);
    }
    if (entry.stuck.empty()) {
      ours.push_back(std::move(entry));
    } else {
      report.stuck.push_back(entry.name + ": " + entry.stuck);
    }
  }
  if (dry_run || ours.empty()) {
    return {};
  }
  return Remove(state, quarantine, ours, report);
}

// Verifies runs on all cores. What does not verify is kept, with the reason.
std::vector<Candidate> VerifyAll(const StateRoot& state, const Directory& runs,
                                 std::vector<RetainedRun*> wanted, bool lock) {
  std::vector<std::optional<Candidate>> found(wanted.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < wanted.size(); i = next++) {
      auto candidate = VerifyCandidate(state, runs, *wanted[i], lock);
      if (candidate) {
        found[i] = *std::move(candidate);
      } else {
        wanted[i]->deleted = false;
        wanted[i]->held_back = wanted[i]->reason =
            (candidate.error().code == Code::kBusy ? "in use: " : "does not verify: ") +
            candidate.error().message;
      }
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < Workers(wanted.size(), kVerifyDescriptors); ++i) {
    threads.emplace_back(work);
  }
  work();
  for (auto& thread : threads) {
    thread.join();
  }
  std::vector<Candidate> out;
  for (auto& candidate : found) {
    if (candidate) {
      out.push_back(*std::move(candidate));
    }
  }
  return out;
}

Result<void> DeleteBatch(const StateRoot& state, const Directory& runs, const Directory& quarantine,
                         std::vector<Candidate> batch, Outcome& report) {
  if (batch.empty()) {
    return {};
  }
  std::vector<PrunedRun> records;
  for (const auto& candidate : batch) {
    records.push_back(candidate.record);
  }
  const auto keep_all = [&](const std::string& where, const Error& error) {
    for (const auto& record : records) {
      Keep(report, record.run, where + error.message);
    }
    return Fail(error);
  };
  if (const auto begun = RecordPruneBegun(state, records); !begun) {
    return keep_all("not deleted: ", begun.error());
  }
  std::vector<Entry> moved;
  std::vector<std::string> not_moved;
  for (auto& candidate : batch) {
    const std::string name = EntryName(candidate.run.id, candidate.record.inode);
    const auto done = MoveToQuarantine(runs, quarantine, candidate);
    if (done) {
      moved.push_back({name, candidate.run.id, candidate.record.inode, false, ""});
      continue;
    }
    Keep(report, candidate.run.id, "could not be moved: " + done.error().message);
    if (quarantine.Stat(name)) {
      report.stuck.push_back(name + ": " + done.error().message);
    } else {
      not_moved.push_back(candidate.run.id);
    }
  }
  auto synced = quarantine.Sync();
  if (synced) {
    synced = runs.Sync();
  }
  if (!synced) {
    return keep_all("left in the quarantine: ", synced.error());
  }
  batch.clear();  // gives up the locks: nobody finds these runs any more
  if (!not_moved.empty()) {
    MACO_TRY(RecordPruneEnded(state, not_moved, "restored"));
  }
  return Remove(state, quarantine, moved, report);
}

Result<void> DeleteAll(const StateRoot& state, const Directory& quarantine, bool dry_run,
                       Outcome& report) {
  std::vector<RetainedRun*> wanted;
  for (auto& run : report.runs) {
    if (run.deleted) {
      wanted.push_back(&run);
    }
  }
  if (wanted.empty()) {
    return {};
  }
  Directory runs;
  MACO_ASSIGN(runs, state.dir().Open(kRunsName));
  const std::size_t most = std::clamp<std::size_t>(SpareDescriptors() / 2, 1, kBatch);
  Result<void> done;
  for (std::size_t at = 0; at < wanted.size(); at += most) {
    const std::vector<RetainedRun*> part(
        wanted.begin() + static_cast<std::ptrdiff_t>(at),
        wanted.begin() + static_cast<std::ptrdiff_t>(std::min(at + most, wanted.size())));
    if (!done) {
      for (auto* run : part) {
        run->deleted = false;
        run->reason = "not reached";
      }
      continue;
    }
    auto batch = VerifyAll(state, runs, part, !dry_run);
    if (!dry_run) {
      done = DeleteBatch(state, runs, quarantine, std::move(batch), report);
    }
  }
  return done;
}

Json RunsJson(const std::vector<RetainedRun>& runs) {
  Json out = Json::array();
  for (const auto& run : runs) {
    out.push_back({{"run", EscapeControl(run.id)},
                   {"deleted", run.deleted},
                   {"reason", EscapeControl(run.reason)},
                   {"outcome", EscapeControl(run.outcome)},
                   {"bytes", run.bytes},
                   {"files", run.files},
                   {"finalized_us", run.time_us}});
  }
  return out;
}

std::string Lines(const Outcome& report, bool dry_run) {
  std::string out;
  std::uint64_t deleted = 0;
  for (const auto& run : report.runs) {
    deleted += run.deleted ? 1 : 0;
    out += Padded(run.deleted ? (dry_run ? "would delete" : "deleted") : "kept", 13) +
           EscapeControl(run.id) + "  " + Padded(std::to_string(run.bytes), 12) +
           EscapeControl(run.reason) + "\n";
  }
  return out + std::to_string(deleted) +
         (dry_run ? " runs would be deleted, " : " runs deleted, ") +
         std::to_string(report.bytes()) + " bytes\n";
}

Result<void> PrintOutcome(const Options& options, const Outcome& report) {
  if (options.json) {
    Json stuck = Json::array();
    for (const auto& entry : report.stuck) {
      stuck.push_back(EscapeControl(entry));
    }
    return PrintDocument("maco.prune-report/1", {{"dry_run", options.dry_run},
                                                 {"runs", RunsJson(report.runs)},
                                                 {"bytes", report.bytes()},
                                                 {"stuck", std::move(stuck)}});
  }
  if (options.nul) {
    std::string out;
    for (const auto& run : report.runs) {
      if (run.deleted) {
        out += run.id + '\0';
      }
    }
    return Print(out);
  }
  return Print(Lines(report, options.dry_run));
}

}  // namespace

Result<int> Prune(const Options& options) {
  RetentionPolicy policy;
  MACO_ASSIGN(policy, PolicyFor(options.policy));
  Place place;
  MACO_ASSIGN(place, OpenPlace(options.dry_run ? Access::kRead : Access::kWrite));
  const StateRoot& state = *place.state;
  if (policy.empty()) {
    return Fail(Code::kInvalid, "there is no policy",
                "say what to keep: --keep N, --max-age TIME, ..., or maco.prune.* in the global "
                "configuration");
  }
  Outcome report;
  Directory quarantine;
  if (!options.dry_run) {
    MACO_ASSIGN(quarantine, OpenQuarantine(state));
    MACO_TRY(FinishOld(state, quarantine, false, report));
  } else if (auto there = state.dir().Open(kQuarantineName)) {
    MACO_TRY(FinishOld(state, *there, true, report));
  } else if (there.error().code != Code::kNotFound) {
    return Fail(there.error());
  }
  MACO_ASSIGN(report.runs, ListRetained(state));
  std::map<std::string, std::string> needed;
  MACO_ASSIGN(needed, NeededRuns(state));
  HoldBack(needed, report.runs);
  Decide(policy, WallMicros(), report.runs);
  const auto done = DeleteAll(state, quarantine, options.dry_run, report);
  MACO_TRY(PrintOutcome(options, report));
  for (const auto& entry : report.stuck) {
    Note(kTool, "stuck in the quarantine: " + EscapeControl(entry) +
                    "; git maco prune inspect, restore or discard");
  }
  MACO_TRY(done);
  return report.stuck.empty() ? kExitOk : kExitNo;
}

}  // namespace maco::prune

// The live entries, the lock that tells the living from the dead, and the end of their units.
// Contract: maco-run/leftovers.h.
#include "maco-run/leftovers.h"

#include "libcommon/base/random_id.h"
#include "libcommon/base/report.h"
#include "libcommon/log/log_reader.h"
#include "libcommon/os/ofd_lock.h"
#include "libcommon/state/run_sight.h"
#include "maco-run/record/run_store.h"
#include "maco-run/spec/run_spec.h"

namespace maco::run {
namespace {

constexpr char kTool[] = "maco-run";
constexpr std::size_t kMaxLive = 10000;

// Returns whether the entry can go.
Result<bool> CleanRun(const StateRoot& state, UserManager& manager, const std::string& id) {
  auto run = state.dir().Open("runs/" + id);
  if (!run) {
    return run.error().code == Code::kNotFound ? Result<bool>(true) : Fail(run.error());
  }
  auto journal = OpenLogFile(*run, "run.log");
  if (!journal) {
    // Killed between its directory and its journal: nothing was started.
    return journal.error().code == Code::kNotFound ? Result<bool>(true) : Fail(journal.error());
  }
  bool held = false;
  MACO_ASSIGN(held, OfdLock::HeldByOther(journal->get()));
  if (held) {
    return false;  // it is running
  }
  bool ended = false;
  MACO_ASSIGN(ended, manager.EndLeftover(UnitName(id)));
  if (ended) {
    Note(kTool, "ended the unit of run " + id + ", whose maco-run was killed");
  }
  AliasLinks::RemoveLeftover(id);
  const RunSight sight = LookAtRun(state, id);
  if (sight.error) {
    return Fail(*sight.error);
  }
  if (Conclude(sight).kind == RunKind::kUncertain) {
    Note(kTool,
         "run " + id +
             " was cut short after its start: its outcome is uncertain; see 'git maco status'");
  }
  return true;
}

}  // namespace

Result<void> CleanLeftovers(const StateRoot& state, UserManager& manager) {
  auto live = state.dir().Open(kLiveName);
  if (!live) {
    return live.error().code == Code::kNotFound ? Result<void>() : Fail(std::move(live).error());
  }
  std::vector<std::string> names;
  MACO_ASSIGN(names, live->List(kMaxLive));
  for (const auto& id : names) {
    if (!IsRandomId(id)) {
      continue;  // not ours
    }
    // One bad entry must not keep the others, or a run, from their work.
    const auto clean = CleanRun(state, manager, id);
    if (!clean) {
      Note(kTool, "left over run " + id + ": " + Describe(clean.error()));
    } else if (*clean) {
      [[maybe_unused]] const auto gone = live->Unlink(id);  // another run may have been faster
    }
  }
  return {};
}

}  // namespace maco::run

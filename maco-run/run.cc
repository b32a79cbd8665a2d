// Preparation of a run: host, repository, state, roots; then the run itself.
// Contract: maco-run/run.h.
#include "maco-run/run.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <future>
#include <iterator>
#include <optional>

#include "libcommon/auth/state_root.h"
#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"
#include "libcommon/git/config.h"
#include "maco-run/confined_run.h"
#include "maco-run/lane_choice.h"
#include "maco-run/leftovers.h"
#include "maco-run/record/observations.h"
#include "maco-run/record/run_store.h"
#include "maco-run/result_file.h"
#include "maco-run/spec/environment.h"
#include "maco-run/spec/git_settings.h"
#include "maco-run/spec/mask.h"
#include "maco-run/spec/repositories.h"
#include "maco-run/step.h"
#include "maco-run/supervise/signals.h"
#include "maco-run/surroundings.h"

namespace maco::run {
namespace {

Result<Limits> LimitsOf(const Options& options, const std::vector<ConfigValue>& settings) {
  std::vector<ConfigValue> own;
  std::ranges::copy_if(settings, std::back_inserter(own),
                       [](const ConfigValue& value) { return value.key.starts_with("maco.run."); });
  ChosenLimits chosen;
  MACO_ASSIGN(chosen, ChooseLimits(own, options.limit_flags));
  for (const auto& note : chosen.notes) {
    Note("maco-run", note);
  }
  return chosen.limits;
}

// JRN-10: the keys of repositories around the roots are no run's business either.
Result<void> HideStateAround(RunSpec& spec, const Surroundings& surroundings) {
  std::vector<std::string> places{surroundings.git_dir, surroundings.common_dir};
  for (const auto& root : spec.roots) {
    places.push_back(root.path);
  }
  return HideStateRoots(spec, EnclosingStateRoots(places));
}

// The trees whose state a step is bound to; where its result is saved does not count.
WorktreePlace BoundWorktree(const RunSpec& spec, const Surroundings& surroundings,
                            const Options& options, const std::optional<ChosenLane>& lane) {
  WorktreePlace place{surroundings.git_dir, surroundings.worktree, {}, {}};
  if (lane) {
    // git is not asked about a private lane: the run could have written what git would execute.
    const bool linked = lane->lane.kind == "linked";
    place.git_dir = linked ? lane->lane.git_dir : surroundings.git_dir;
    place.worktree = linked ? lane->lane.path : "";
  }
  for (const auto& root : spec.roots) {
    if (root.scan) {
      place.roots.push_back(root.path);
    }
  }
  if (options.request.with_result) {
    place.excluded = options.result_file.starts_with('/')
                         ? options.result_file
                         : surroundings.current_directory + "/" + options.result_file;
  }
  return place;
}

// Descriptors that a run has on their way in sockets are counted for the user, and sending is
// refused to those who have as many as their own limit.
void RaiseOpenFiles() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

}  // namespace

Result<int> ExecuteRun(const Options& options, const TestHooks& hooks) {
  Timings timings;
  RaiseOpenFiles();
  if (options.evidence_fd >= 0 && fcntl(options.evidence_fd, F_GETFD) < 0) {
    return Fail(Code::kInvalid,
                "--evidence-fd " + std::to_string(options.evidence_fd) + " is not open");
  }
  MACO_TRY(Cgroup::RequireUnified());
  auto signals = SignalSource::Open();
  if (!signals) {
    return Fail(std::move(signals).error());
  }
  // Threads inherit the signals that are blocked.
  auto git_asked = std::async(std::launch::async, FindConfiguredRepository);
  auto manager = UserManager::Connect(geteuid());
  if (!manager) {
    return Fail(std::move(manager).error());
  }
  std::string version;
  MACO_ASSIGN(version, manager->Version());
  Json host;
  MACO_ASSIGN(host, DescribeHost(version));
  timings.Mark("connected");
  Surroundings surroundings;
  ConfiguredRepository found;
  MACO_ASSIGN(found, git_asked.get());
  MACO_ASSIGN(surroundings, FindSurroundings(std::move(found.repository)));
  Directory common_dir;
  MACO_ASSIGN(common_dir, Directory::OpenPath(surroundings.common_dir));
  auto state = StateRoot::Open(common_dir, IfMoved::kRefuse, Access::kWrite);
  if (!state) {
    return Fail(std::move(state).error());
  }
  MACO_TRY(CleanLeftovers(*state, *manager));
  ResultPlace result_place;
  const bool is_step = !options.step_name.empty();
  if (options.request.with_result && !is_step) {
    MACO_ASSIGN(result_place, FindResultPlace(options.result_file));
  }
  Request request = options.request;
  const std::vector<ConfigValue> settings = std::move(found.config);
  MACO_ASSIGN(request.limits, LimitsOf(options, settings));
  std::optional<ChosenLane> lane;
  if (!options.lane.empty()) {
    auto chosen = ChooseLane(*state, options, request);
    if (!chosen) {
      return Fail(std::move(chosen).error());
    }
    lane.emplace(*std::move(chosen));
  }
  RunSpec spec;
  MACO_ASSIGN(spec, ResolveRun(request, surroundings));
  if (result_place.directory.valid()) {
    MACO_TRY(CheckResultPlace(result_place, spec));
  }
  std::optional<Step> step;
  if (is_step) {
    spec.bound_worktree = BoundWorktree(spec, surroundings, options, lane);
    auto opened = Step::Open(*state, options);
    if (!opened) {
      return Fail(std::move(opened).error());
    }
    std::optional<std::string> done_by;
    MACO_ASSIGN(done_by, opened->Decide(*state, spec));
    if (done_by) {
      return DeliverDoneStep(*state, options, *done_by);
    }
    step.emplace(*std::move(opened));
    if (options.request.with_result) {
      MACO_ASSIGN(result_place, FindResultPlace(options.result_file));
      MACO_TRY(CheckResultPlace(result_place, spec));
    }
  }
  MACO_TRY(HideStateAround(spec, surroundings));
  spec.result_place = std::move(result_place);
  spec.common_dir = std::move(common_dir);
  timings.Mark("resolved");
  RootScan scan;
  MACO_ASSIGN(scan, ScanRoots(spec));
  MACO_TRY(ProtectRepositories(scan, spec));
  MACO_TRY(ProtectGitSettings(settings, surroundings, spec));
  MACO_TRY(HoldDirectoriesAbove(spec));
  timings.Mark("scanned");
  MACO_TRY(CheckNames(spec));
  if (lane) {
    MACO_TRY(RecordLaneRun(*state, *lane, spec.id));
  }
  auto store = RunStore::Create(*state, spec.id);
  if (!store) {
    return Fail(std::move(store).error());
  }
  // After the run is on record as live, so that whoever finds it dead finds the links too.
  auto links = AliasLinks::Make(spec);
  if (!links) {
    MACO_TRY(store->Close());
    return Fail(std::move(links).error());
  }
  if (step) {
    if (auto planned = step->Plan(spec.id); !planned) {
      MACO_TRY(store->Close());
      return Fail(std::move(planned).error());
    }
  }
  if (options.request.with_result) {
    spec.binds.push_back({store->result_path(), kResultPath, false, false});
    spec.roots.push_back({kResultPath, true, Directory(), store->result_identity(), false});
  }
  if (hooks.alter) {
    hooks.alter(spec);
  }
  const std::string id = spec.id;
  ConfinedRun run(options, hooks, *signals, std::move(*state), std::move(spec), std::move(*store));
  const auto status = run.Execute(std::move(*manager), std::move(host), std::move(timings));
  if (status && lane && !lane->candidate.empty()) {
    // The run could not write there; whoever else did makes its word worth nothing.
    if (const auto same = ConfirmValidation(surroundings.common_dir, *lane, id); !same) {
      ::maco::Report("maco-run", same.error());
      return kExitUnproven;
    }
  }
  return status;
}

}  // namespace maco::run

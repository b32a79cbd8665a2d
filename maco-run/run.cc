// Preparation of a run: host, repository, state, roots; then the run itself.
// Contract: maco-run/run.h.
#include "maco-run/run.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "libcommon/auth/state_root.h"
#include "libcommon/base/report.h"
#include "libcommon/git/config.h"
#include "maco-run/confined_run.h"
#include "maco-run/leftovers.h"
#include "maco-run/record/observations.h"
#include "maco-run/record/run_store.h"
#include "maco-run/result_file.h"
#include "maco-run/spec/environment.h"
#include "maco-run/step.h"
#include "maco-run/supervise/signals.h"
#include "maco-run/surroundings.h"

namespace maco::run {
namespace {

Result<Limits> LimitsOf(const Options& options) {
  std::vector<ConfigValue> settings;
  MACO_ASSIGN(settings, ReadConfig("maco.run."));
  ChosenLimits chosen;
  MACO_ASSIGN(chosen, ChooseLimits(settings, options.limit_flags));
  for (const auto& note : chosen.notes) {
    Note("maco-run", note);
  }
  return chosen.limits;
}

// ADM-01: whatever is a repository in a writable root keeps its administrative files.
Result<void> ProtectGitEntries(const std::vector<std::string>& paths, RunSpec& spec) {
  for (const auto& path : paths) {
    const bool known = std::ranges::any_of(spec.read_only_inside,
                                           [&](const auto& other) { return other.path == path; });
    if (known) {
      continue;
    }
    FileIdentity identity;
    MACO_ASSIGN(identity, IdentityOfPath(path));
    spec.read_only_inside.push_back({path, identity});
  }
  return {};
}

// A mount holds a directory in its place, but not the directories above it: moved away, they would
// make room for another repository. So each of them up to the root becomes a mount as well.
Result<void> HoldDirectoriesAbove(const std::string& path, RunSpec& spec) {
  for (std::string above = path.substr(0, path.rfind('/')); !above.empty();
       above = above.substr(0, above.rfind('/'))) {
    const bool is_root = std::ranges::any_of(
        spec.roots, [&](const auto& root) { return root.writable && root.path == above; });
    if (is_root) {
      return {};
    }
    FileIdentity identity;
    MACO_ASSIGN(identity, IdentityOfPath(above));
    spec.binds.push_back({above, above, false, false});
    spec.roots.push_back({above, true, Directory(), identity, false});
  }
  return {};
}

// The trees whose state a step is bound to; where its result is saved does not count.
WorktreePlace BoundWorktree(const RunSpec& spec, const Surroundings& surroundings,
                            const Options& options) {
  WorktreePlace place{surroundings.git_dir, surroundings.worktree, {}, {}};
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

}  // namespace

Result<int> ExecuteRun(const Options& options, const TestHooks& hooks) {
  Timings timings;
  if (options.evidence_fd >= 0 && fcntl(options.evidence_fd, F_GETFD) < 0) {
    return Fail(Code::kInvalid,
                "--evidence-fd " + std::to_string(options.evidence_fd) + " is not open");
  }
  MACO_TRY(Cgroup::RequireUnified());
  auto signals = SignalSource::Open();
  if (!signals) {
    return Fail(std::move(signals).error());
  }
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
  MACO_ASSIGN(surroundings, FindSurroundings());
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
  MACO_ASSIGN(request.limits, LimitsOf(options));
  RunSpec spec;
  MACO_ASSIGN(spec, ResolveRun(request, surroundings));
  std::optional<Step> step;
  if (is_step) {
    spec.bound_worktree = BoundWorktree(spec, surroundings, options);
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
    }
  }
  spec.result_place = std::move(result_place);
  spec.common_dir = std::move(common_dir);
  timings.Mark("resolved");
  RootScan scan;
  MACO_ASSIGN(scan, ScanRoots(spec));
  MACO_TRY(ProtectGitEntries(scan.git_entries, spec));
  for (const auto& inside : spec.read_only_inside) {
    MACO_TRY(HoldDirectoriesAbove(inside.path, spec));
  }
  timings.Mark("scanned");
  MACO_TRY(CheckNames(spec));
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
  ConfinedRun run(options, hooks, *signals, std::move(*state), std::move(spec), std::move(*store));
  return run.Execute(std::move(*manager), std::move(host), std::move(timings));
}

}  // namespace maco::run

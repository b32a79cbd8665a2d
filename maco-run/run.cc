// Preparation of a run: host, repository, state, roots; then the run itself.
// Contract: maco-run/run.h.
#include "maco-run/run.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "libcommon/auth/state_root.h"
#include "maco-run/confined_run.h"
#include "maco-run/record/observations.h"
#include "maco-run/record/run_store.h"
#include "maco-run/result_file.h"
#include "maco-run/spec/environment.h"
#include "maco-run/supervise/signals.h"
#include "maco-run/surroundings.h"

namespace maco::run {
namespace {

// ADM-01: whatever is a repository in a writable root keeps its administrative files.
Result<void> ProtectGitEntries(const std::vector<std::string>& paths, RunSpec& spec) {
  for (const auto& path : paths) {
    const bool known = std::ranges::any_of(spec.read_only_inside,
                                           [&](const auto& other) { return other.path == path; });
    if (known) {
      continue;
    }
    const UniqueFd fd(open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!fd.valid()) {
      return FailOs(errno, "open", path);
    }
    FileIdentity identity;
    MACO_ASSIGN(identity, IdentityOf(fd.get()));
    spec.read_only_inside.push_back({path, identity});
  }
  return {};
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
  auto state = StateRoot::Open(common_dir);
  if (!state) {
    return Fail(std::move(state).error());
  }
  if (options.request.with_result) {
    MACO_TRY(CheckResultPath(options.result_file));
  }
  RunSpec spec;
  MACO_ASSIGN(spec, ResolveRun(options.request, surroundings));
  spec.common_dir = std::move(common_dir);
  timings.Mark("resolved");
  RootScan scan;
  MACO_ASSIGN(scan, ScanRoots(spec));
  MACO_TRY(ProtectGitEntries(scan.git_entries, spec));
  timings.Mark("scanned");
  auto store = RunStore::Create(*state, spec.id);
  if (!store) {
    return Fail(std::move(store).error());
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

// Opening and settings.
// Contract: maco-prune/place.h.
#include "maco-prune/place.h"

#include <fcntl.h>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/report.h"
#include "libcommon/cli/output.h"
#include "libcommon/git/plain_repository.h"
#include "libcommon/os/ofd_lock.h"
#include "libcommon/state/retention_settings.h"

namespace maco::prune {
namespace {

constexpr char kLockName[] = "prune.lock";
}  // namespace

Result<Place> OpenPlace(Access access) {
  Repository repository;
  MACO_ASSIGN(repository, LocateRepository());
  Directory common;
  MACO_ASSIGN(common, Directory::OpenPath(repository.common_dir));
  auto state = StateRoot::Open(common, IfMoved::kRefuse, access);
  if (!state) {
    return Fail(std::move(state).error());
  }
  Place out;
  out.state = std::make_unique<StateRoot>(*std::move(state));
  if (access == Access::kWrite) {
    auto lock = OfdLock::OpenLocked(out.state->dir(), kLockName, O_RDWR | O_CREAT, 0600, false);
    if (!lock && lock.error().code == Code::kBusy) {
      return Fail(Code::kBusy, "another prune of this repository is going on", "wait for it");
    }
    MACO_ASSIGN(out.lock, std::move(lock));
  }
  return out;
}

Result<Directory> OpenQuarantine(const StateRoot& state) {
  return state.dir().OpenOrCreate(kQuarantineName, 0700);
}

Result<RetentionPolicy> PolicyFor(const RetentionPolicy& given) {
  RetentionSettings settings;
  MACO_ASSIGN(settings, ReadRetentionSettings());
  for (const auto& note : settings.notes) {
    Note(kTool, note);
  }
  // A command line with rules of its own is the whole policy.
  RetentionPolicy out = given.empty() ? settings.policy : given;
  out.outcomes = given.outcomes.empty() ? settings.policy.outcomes : given.outcomes;
  return out;
}

}  // namespace maco::prune

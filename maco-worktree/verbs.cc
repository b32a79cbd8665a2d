// Dispatch of verbs.
// Contract: maco-worktree/verbs.h.
#include "maco-worktree/verbs.h"

#include "libcommon/base/exit_code.h"
#include "libcommon/cli/output.h"

namespace maco::worktree {

Result<int> Execute(const Options& options) {
  switch (options.verb) {
    case Verb::kHelp:
      MACO_TRY(Print(Usage()));
      return kExitUsage;
    case Verb::kCreate:
      return Create(options);
    case Verb::kList:
      return List(options);
    case Verb::kClaim:
      return ClaimPaths(options);
    case Verb::kRelease:
      return Release(options);
    case Verb::kOwner:
      return Owner(options);
    case Verb::kIntent:
      return TellIntent(options);
    case Verb::kCapture:
      return Capture(options);
    case Verb::kShow:
      return Show(options);
    case Verb::kAccept:
      return Accept(options);
    case Verb::kReject:
      return Reject(options);
    case Verb::kCheck:
      return Check(options);
    case Verb::kApply:
      return ApplyCandidate(options);
    case Verb::kRemove:
      return Remove(options);
    case Verb::kRestore:
      return Restore(options);
    case Verb::kGc:
      return CollectGarbage(options);
    case Verb::kRepair:
      return Repair(options);
    case Verb::kHook:
      return InstallHook(options);
  }
  return kExitUsage;
}

}  // namespace maco::worktree

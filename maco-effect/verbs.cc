// Dispatch of verbs.
// Contract: maco-effect/verbs.h.
#include "maco-effect/verbs.h"

#include "libcommon/base/exit_code.h"
#include "libcommon/cli/output.h"

namespace maco::effect {

Result<int> Execute(const Options& options) {
  switch (options.verb) {
    case Verb::kHelp:
      MACO_TRY(Print(Usage()));
      return kExitUsage;
    case Verb::kPush:
    case Verb::kPullRequest:
    case Verb::kIssue:
    case Verb::kComment:
      return Publish(options);
    case Verb::kSend:
      return Send(options);
    case Verb::kList:
      return List(options);
    case Verb::kShow:
      return Show(options);
    case Verb::kRecover:
      return Recover(options);
    case Verb::kReconcile:
      return Reconcile(options);
    case Verb::kVerify:
      return Verify(options);
    case Verb::kArchive:
      return Archive(options);
    case Verb::kHook:
      return Hook(options);
  }
  return kExitUsage;
}

}  // namespace maco::effect

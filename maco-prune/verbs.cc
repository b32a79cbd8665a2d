// Dispatch of verbs.
// Contract: maco-prune/verbs.h.
#include "maco-prune/verbs.h"

#include "libcommon/base/exit_code.h"
#include "libcommon/cli/output.h"

namespace maco::prune {

Result<int> Execute(const Options& options) {
  switch (options.verb) {
    case Verb::kHelp:
      MACO_TRY(Print(Usage()));
      return kExitUsage;
    case Verb::kPrune:
      return Prune(options);
    case Verb::kInspect:
      return Inspect(options);
    case Verb::kRestore:
      return Restore(options);
    case Verb::kDiscard:
      return Discard(options);
  }
  return kExitUsage;
}

}  // namespace maco::prune

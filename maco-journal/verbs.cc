// Dispatch of verbs.
// Contract: maco-journal/verbs.h.
#include "maco-journal/verbs.h"

#include "libcommon/base/exit_code.h"
#include "libcommon/cli/output.h"

namespace maco::journal {

Result<int> Execute(const Options& options) {
  switch (options.verb) {
    case Verb::kHelp:
      MACO_TRY(Print(Usage()));
      return kExitUsage;
    case Verb::kList:
      return List(options);
    case Verb::kShow:
      return Show(options);
    case Verb::kVerify:
      return VerifyJournals(options);
    case Verb::kRepair:
      return Repair(options);
    case Verb::kResolve:
      return Resolve(options);
    case Verb::kResume:
      return Resume(options);
    case Verb::kCheckpoint:
      return Checkpoint(options);
    case Verb::kRebind:
      return Rebind(options);
    case Verb::kRekey:
      return Rekey(options);
    case Verb::kArchive:
      return Archive(options);
    case Verb::kAnchor:
      return Anchor(options);
    case Verb::kExport:
      return Export(options);
  }
  return kExitUsage;
}

}  // namespace maco::journal

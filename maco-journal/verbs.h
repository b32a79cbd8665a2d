// The verbs of maco-journal. Each prints its answer and returns the exit status: 0, or 1 if the
// answer is no. Errors: those of opening the state and journals, and what each names.
#pragma once
#include "libcommon/base/result.h"
#include "maco-journal/options.h"

namespace maco::journal {

Result<int> Execute(const Options& options);

Result<int> List(const Options& options);
Result<int> Show(const Options& options);
Result<int> Export(const Options& options);  // kExists (--output)
Result<int> VerifyJournals(const Options& options);
Result<int> Repair(const Options& options);   // kBusy, kTornTail, kCorrupt (it cannot be repaired)
Result<int> Resolve(const Options& options);  // kRefused (nothing to resolve), kBusy
Result<int> Resume(const Options& options);
Result<int> Checkpoint(const Options& options);  // kPermission, kExists, kCorrupt, kUnsupported
Result<int> Rebind(const Options& options);
Result<int> Rekey(const Options& options);  // kBusy, kRefused (an uncertain run)
Result<int> Archive(const Options& options);
Result<int> Anchor(const Options& options);

}  // namespace maco::journal

// `git maco journal checkpoint`: writes or checks the envelope of a named run.
// Contract: git-maco-journal(1).
#include "libcommon/base/exit_code.h"
#include "libcommon/cli/document.h"
#include "libcommon/cli/output.h"
#include "maco-journal/checkpoint_file.h"
#include "maco-journal/place.h"
#include "maco-journal/verbs.h"

namespace maco::journal {

Result<int> Checkpoint(const Options& options) {
  auto state = options.check.empty() ? OpenToWrite() : OpenToRead();
  if (!state) {
    return Fail(std::move(state).error());
  }
  CheckpointFile checkpoint;
  if (options.check.empty()) {
    MACO_ASSIGN(checkpoint, PresentCheckpoint(*state, options.names.front()));
    MACO_TRY(WriteCheckpoint(*state, checkpoint, options.output));
  } else {
    MACO_ASSIGN(checkpoint, ReadCheckpoint(*state, options.check));
    MACO_TRY(CheckAgainstJournal(*state, checkpoint));
  }
  if (options.json) {
    MACO_TRY(PrintDocument("maco.checkpoint-report/1", {{"run", checkpoint.run},
                                                        {"sequence", checkpoint.sequence},
                                                        {"time_us", checkpoint.time_us}}));
  } else {
    MACO_TRY(Print("run " + checkpoint.run + ", record " + std::to_string(checkpoint.sequence) +
                   " of " + UtcTime(checkpoint.time_us) + "\n"));
  }
  return kExitOk;
}

}  // namespace maco::journal

// RunStore: the directory of one run in the state root, its journal, and the files that it fills.
// Layout: runs/<id>/{run.log,trusted/,incoming/} (OUT-01 to OUT-04). Events: docs/formats/run.md.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "libcommon/auth/json.h"
#include "libcommon/auth/state_root.h"
#include "libcommon/base/result.h"
#include "libcommon/log/log_writer.h"
#include "libcommon/os/directory.h"

namespace maco::run {

// Directory of the state root with an entry for each run that is going on, or was cut short.
inline constexpr char kLiveName[] = "live";

class RunStore {
 public:
  // Makes the directories, reserves logs, evidence and result, opens the journal and holds its lock
  // for the life of the object (JRN-03). Errors: kExists, kPermission, kLimit, kIo.
  static Result<RunStore> Create(const StateRoot& state, const std::string& run_id);

  // Appends an event to the journal; it and the head are durable when this returns (JRN-02).
  Result<std::uint64_t> Append(Json event);

  // Signs the document with the key of `state` and puts it in the place that was reserved for it,
  // durably; returns the signed text. Errors: kInvalid, kLimit, kIo.
  Result<std::string> WriteEvidence(const StateRoot& state, const Json& evidence);

  // Appends the event that ends the run and, in the same batch, the final record of all its files
  // (PRN-01); both and the head are durable when this returns. Files that cannot be recorded so
  // cost the run its final record, not its end: returns why, or nothing. Errors: as Append.
  Result<std::string> Finish(Json event);

  // The last record is written: the run leaves the live ones, and gives up its lock. Errors: kIo.
  Result<void> Close();

  int stdout_log() const { return stdout_log_.get(); }
  int stderr_log() const { return stderr_log_.get(); }
  int result() const { return result_.get(); }
  const FileIdentity& result_identity() const { return result_identity_; }
  // Whether the name of the result still leads to the descriptor that we kept.
  bool ResultNameLeadsToIt() const;
  // Path of the result file outside, for the bind into the unit.
  const std::string& result_path() const { return result_path_; }

 private:
  explicit RunStore(LogWriter journal) : journal_(std::move(journal)) {}
  LogWriter journal_;
  Directory run_;
  Directory trusted_;
  Directory incoming_;
  Directory live_;
  std::string id_;
  std::uint64_t rebinds_ = 0;  // of the repository
  UniqueFd stdout_log_;
  UniqueFd stderr_log_;
  UniqueFd result_;
  FileIdentity result_identity_;
  std::string result_path_;
};

}  // namespace maco::run

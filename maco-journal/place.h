// Where a verb works: the repository of the current directory and its state, open.
// Errors: those of FindRepository and StateRoot::Open.
#pragma once
#include "libcommon/auth/json.h"
#include "libcommon/auth/state_root.h"
#include "libcommon/base/result.h"
#include "libcommon/git/repository.h"

namespace maco::journal {

inline constexpr char kTool[] = "git maco journal";

struct Place {
  Repository repository;
  Directory common_dir;
};

Result<Place> FindPlace();

// For reading a moved repository is fine: that is when one looks. It is said once, on stderr.
Result<StateRoot> OpenToRead();
Result<StateRoot> OpenToWrite();

// Puts a record of what an operator did on the audit journal, durably. `what` has an "event".
// Errors: those of opening a journal, kLimit, kIo.
Result<void> Audit(const StateRoot& state, Json what);

}  // namespace maco::journal

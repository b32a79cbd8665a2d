// Opening of the state, documents on standard output, the audit journal.
// Contract: maco-journal/place.h.
#include "maco-journal/place.h"

#include <unistd.h>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/byte_codec.h"
#include "libcommon/base/clock.h"
#include "libcommon/base/report.h"
#include "libcommon/cli/output.h"
#include "libcommon/git/plain_repository.h"
#include "libcommon/state/journals.h"

namespace maco::journal {

Result<Place> FindPlace() {
  Place place;
  MACO_ASSIGN(place.repository, LocateRepository());
  MACO_ASSIGN(place.common_dir, Directory::OpenPath(place.repository.common_dir));
  return place;
}

Result<StateRoot> OpenToRead() {
  Place place;
  MACO_ASSIGN(place, FindPlace());
  auto state = StateRoot::Open(place.common_dir, IfMoved::kReport);
  if (state && state->moved()) {
    Note(kTool, "this repository was moved, copied or restored; its state belongs to '" +
                    state->identity().place.path + "'; see 'git maco journal rebind'");
  }
  return state;
}

Result<StateRoot> OpenToWrite() {
  Place place;
  MACO_ASSIGN(place, FindPlace());
  return StateRoot::Open(place.common_dir, IfMoved::kRefuse, Access::kWrite);
}

Result<void> Audit(const StateRoot& state, Json what) {
  what["schema"] = "maco.audit-event/1";
  what["time_us"] = WallMicros();
  what["uid"] = getuid();
  std::string text;
  MACO_ASSIGN(text, Canonicalize(what));
  auto journal = OpenOrCreate(state, Journal::OfAudit(state.epoch()), LogLock::kWait);
  if (!journal) {
    return Fail(std::move(journal).error());
  }
  MACO_TRY(journal->Append(AsBytes(text), Durability::kRecordAndHead));
  return journal->Close();
}

}  // namespace maco::journal

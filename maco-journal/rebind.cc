// `git maco journal rebind` and `rekey`: a new place, a new key; both on the audit journal.
// Contract: git-maco-journal(1), docs/formats/repository.md, key.md.
#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"
#include "libcommon/base/text.h"
#include "libcommon/cli/output.h"
#include "libcommon/store/store.h"
#include "libcommon/store/store_list.h"
#include "maco-journal/place.h"
#include "maco-journal/seals.h"
#include "maco-journal/verbs.h"

namespace maco::journal {
namespace {

// Opening a store for writing is what gives it a journal of the new key. One that cannot be opened
// is no reason to stop: it says why whenever it is used.
Result<void> RenewStores(const StateRoot& state) {
  StoreList list;
  MACO_ASSIGN(list, ListStores(StoreAccess::Of(state)));
  for (const auto& name : list.names) {
    auto store = Store::Open(StoreAccess::Of(state), name, {});
    auto done = store ? store->Close() : Fail(std::move(store).error());
    if (!done && done.error().code != Code::kNotFound) {
      Note(kTool, "store " + name + " keeps its old key for now: " + Describe(done.error()));
    }
  }
  return {};
}

}  // namespace

Result<int> Rebind(const Options& options) {
  Place place;
  MACO_ASSIGN(place, FindPlace());
  auto before = StateRoot::Open(place.common_dir, IfMoved::kReport);
  if (!before) {
    return Fail(std::move(before).error());
  }
  const std::string from = EscapeControl(before->identity().place.path);
  const std::string to = EscapeControl(before->observed().path);
  if (!before->moved()) {
    MACO_TRY(Print("the state belongs to '" + to + "' already\n"));
    return kExitOk;
  }
  if (options.dry_run) {
    MACO_TRY(Print("would bind the state of '" + from + "' to '" + to + "'\n"));
    return kExitOk;
  }
  if (const auto bound = StateRoot::Rebind(place.common_dir); !bound) {
    return Fail(bound.error());
  }
  // Opened anew: whoever writes holds off a rekey meanwhile.
  const auto after = OpenToWrite();
  if (!after) {
    return Fail(after.error());
  }
  MACO_TRY(Audit(*after, {{"event", "rebound"}, {"from", from}, {"to", to}}));
  MACO_TRY(Print("the state of '" + from + "' now belongs to '" + to + "'\n"));
  return kExitOk;
}

Result<int> Rekey(const Options& options) {
  Place place;
  MACO_ASSIGN(place, FindPlace());
  if (options.dry_run) {
    const auto state = StateRoot::Open(place.common_dir);
    if (!state) {
      return Fail(state.error());
    }
    MACO_TRY(Print("would make the key of epoch " + std::to_string(state->epoch() + 1) + "\n"));
    return kExitOk;
  }
  if (const auto rekeyed = StateRoot::Rekey(place.common_dir, WriteSeal); !rekeyed) {
    return Fail(rekeyed.error());
  }
  // Opened anew: whoever writes holds off another rekey meanwhile.
  const auto state = OpenToWrite();
  if (!state) {
    return Fail(state.error());
  }
  MACO_TRY(RenewStores(*state));
  MACO_TRY(Audit(*state, {{"event", "rekeyed"}, {"epoch", state->epoch()}}));
  MACO_TRY(Print("the key of epoch " + std::to_string(state->epoch()) + " is in force\n"));
  return kExitOk;
}

}  // namespace maco::journal

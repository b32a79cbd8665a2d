// Decoding of the table, commits, and the lock file of a lane.
// Contract: libcommon/lane/lane_registry.h.
#include "libcommon/lane/lane_registry.h"

#include <fcntl.h>

#include "libcommon/base/text.h"
#include "libcommon/os/ofd_lock.h"
#include "libcommon/store/store_reader.h"

namespace maco {
namespace {

constexpr char kLeaseName[] = "lease";

template <typename T>
void Put(LaneTable& table, std::map<std::string, T>& rows, const std::string& name, Result<T> row) {
  if (row) {
    rows.emplace(name, *std::move(row));
  } else {
    table.damaged.push_back(std::move(row).error());
  }
}

LaneTable Decode(const Table& rows) {
  LaneTable out;
  for (const auto& [key, row] : rows.rows()) {
    const std::string kind = key.substr(0, key.find('/'));
    const std::string name = key.substr(key.find('/') + 1);
    if (kind == "lane") {
      Put(out, out.lanes, name, DecodeLane(key, row.value()));
    } else if (kind == "claim") {
      Put(out, out.claims, name, DecodeClaim(key, row.value()));
    } else if (kind == "intent") {
      Put(out, out.intents, name, DecodeIntent(key, row.value()));
    } else if (kind == "candidate") {
      Put(out, out.candidates, name, DecodeCandidate(key, row.value()));
    } else if (kind == "writer") {
      Put(out, out.writers, key, DecodeLaneRun(key, row.value()));
    } else if (kind == "validation") {
      Put(out, out.validations, key, DecodeLaneRun(key, row.value()));
    } else if (kind == "apply") {
      Put(out, out.applies, name, DecodeApply(key, row.value()));
    } else {
      out.damaged.push_back(MakeError(
          Code::kCorrupt, "row '" + EscapeControl(key) + "' of store 'lanes' is of no known kind"));
    }
  }
  return out;
}

}  // namespace

StoreLimits LaneStoreLimits() {
  StoreLimits limits;
  limits.rows = 16'384;
  limits.table_bytes = std::uint64_t{16} << 20U;
  limits.journal_bytes = std::uint64_t{64} << 20U;
  return limits;
}

Result<Lane> LaneTable::Find(const std::string& name) const {
  if (!IsLaneName(name)) {
    return Fail(Code::kInvalid, "'" + EscapeControl(name) + "' is no name of a lane",
                "1 to 48 letters, digits, '.', '_' and '-', not starting with '.' or '-'");
  }
  const auto lane = lanes.find(name);
  if (lane == lanes.end()) {
    return Fail(Code::kNotFound, "there is no lane '" + name + "'",
                "'git maco worktree list' names them");
  }
  return lane->second;
}

Result<LaneTable> ReadLanes(const StateRoot& state) {
  const auto snapshot = ReadStore(StoreAccess::Of(state), kLaneStore, LaneStoreLimits());
  if (snapshot) {
    return Decode(snapshot->table);
  }
  if (snapshot.error().code == Code::kNotFound) {
    return LaneTable{};
  }
  return Fail(snapshot.error());
}

Result<LaneRegistry> LaneRegistry::Open(const StateRoot& state) {
  StoreOptions options;
  options.create = true;
  options.lock = LogLock::kWait;
  options.limits = LaneStoreLimits();
  auto store = Store::Open(StoreAccess::Of(state), kLaneStore, options);
  if (!store) {
    return Fail(std::move(store).error());
  }
  LaneRegistry registry(*std::move(store));
  registry.table_ = Decode(registry.store_.table());
  return registry;
}

Result<void> LaneRegistry::Commit(const StoreChange& change) {
  MACO_TRY(store_.Commit(change, Durability::kRecordAndHead));
  table_ = Decode(store_.table());
  return {};
}

Result<Directory> OpenLaneDirectory(const StateRoot& state, const std::string& lane_id) {
  Directory lanes;
  MACO_ASSIGN(lanes, state.dir().Open(kLanesName));
  return lanes.Open(lane_id);
}

Result<UniqueFd> TakeLease(const StateRoot& state, const Lane& lane, LeaseKind kind) {
  Directory directory;
  MACO_ASSIGN(directory, OpenLaneDirectory(state, lane.id));
  UniqueFd fd;
  MACO_ASSIGN(fd, directory.OpenFile(kLeaseName, O_RDWR | O_CREAT, 0600));
  const auto locked =
      kind == LeaseKind::kWrite ? OfdLock::TryLock(fd.get()) : OfdLock::TryLockShared(fd.get());
  if (!locked && locked.error().code == Code::kBusy) {
    return Fail(Code::kBusy, "lane '" + lane.name + "' is in use by another process",
                "wait for it; 'git maco status' shows runs");
  }
  MACO_TRY(locked);
  return fd;
}

Result<bool> LeaseHeld(const StateRoot& state, const Lane& lane) {
  Directory directory;
  MACO_ASSIGN(directory, OpenLaneDirectory(state, lane.id));
  const auto fd = directory.OpenFile(kLeaseName, O_RDWR);
  if (!fd) {
    return fd.error().code == Code::kNotFound ? Result<bool>(false) : Fail(fd.error());
  }
  return OfdLock::HeldByOther(fd->get());
}

}  // namespace maco

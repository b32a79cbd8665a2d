// Rows by key, changes under the store's lock, one lock file for each effect that is on its way.
// Contract: libcommon/effect/effect_log.h.
#include "libcommon/effect/effect_log.h"

#include <fcntl.h>

#include <algorithm>
#include <set>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/text.h"
#include "libcommon/os/ofd_lock.h"
#include "libcommon/store/json_members.h"

namespace maco {
namespace {

constexpr char kEffectsName[] = "effects";
constexpr std::size_t kMinIdDigits = 4;

std::string LockName(const std::string& id) { return id + ".lock"; }

Error NoSuchEffect(const std::string& text) {
  return MakeError(Code::kNotFound, "there is no effect '" + EscapeControl(text) + "'",
                   "'git maco effect list' names them");
}

Result<Store> OpenStore(const StateRoot& state) {
  StoreOptions options;
  options.create = true;
  options.lock = LogLock::kWait;
  options.limits = EffectStoreLimits();
  return Store::Open(StoreAccess::Of(state), kEffectStore, options);
}

}  // namespace

StoreLimits EffectStoreLimits() {
  StoreLimits limits;
  limits.rows = 32'768;
  limits.row_bytes = std::uint64_t{768} << 10U;  // a request with its body
  limits.table_bytes = std::uint64_t{64} << 20U;
  limits.release_bytes = 3072;  // a row of a completed effect
  limits.journal_bytes = std::uint64_t{256} << 20U;
  limits.journal_records = 262'144;
  return limits;
}

Result<Effect> EffectTable::Decode(const std::string& key, const Json& row) const {
  Effect effect;
  MACO_ASSIGN(effect, DecodeEffect(key, row));
  const std::string other = EffectEvidenceKey(effect.id);
  if (const Json* evidence = rows_->Find(other); evidence != nullptr) {
    MACO_ASSIGN(effect.evidence, DecodeEvidence(other, *evidence));
  }
  return effect;
}

Result<std::optional<Effect>> EffectTable::Find(const std::string& id) const {
  const std::string key = EffectKey(id);
  const Json* row = rows_->Find(key);
  if (row == nullptr) {
    return std::optional<Effect>();
  }
  Effect effect;
  MACO_ASSIGN(effect, Decode(key, *row));
  return std::optional(std::move(effect));
}

Result<Effect> EffectTable::Choose(const std::string& text) const {
  const bool hex = text.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!hex || text.size() < kMinIdDigits || text.size() > kEffectIdDigits) {
    return Fail(Code::kInvalid, "'" + EscapeControl(text) + "' is no id of an effect",
                "4 to 32 hex digits; 'git maco effect list' names them");
  }
  const std::string key = EffectKey(text);
  const auto first = rows_->rows().lower_bound(key);
  if (first == rows_->rows().end() || !first->first.starts_with(key)) {
    return Fail(NoSuchEffect(text));
  }
  const auto second = std::next(first);
  if (second != rows_->rows().end() && second->first.starts_with(key)) {
    return Fail(Code::kInvalid, "several effects begin with '" + text + "'", "give more digits");
  }
  return Decode(first->first, first->second.value());
}

const Json* EffectTable::RequestOf(const std::string& id) const {
  return rows_->Find(EffectRequestKey(id));
}

std::optional<Effect> EffectTable::WithSubject(const std::string& subject) const {
  const auto quoted = Canonicalize(subject);
  if (!quoted) {
    return std::nullopt;  // no row has what is no text
  }
  // Rows are many, and have one form: none is parsed that does not have this in its text.
  const std::string member = "\"subject\":" + *quoted;
  const std::string begin = EffectKey("");
  for (auto row = rows_->rows().lower_bound(begin);
       row != rows_->rows().end() && row->first.starts_with(begin); ++row) {
    if (row->second.text().find(member) == std::string::npos) {
      continue;
    }
    const auto effect = Decode(row->first, row->second.value());
    if (effect && effect->subject == subject && effect->state != "abandoned" &&
        effect->state != "failed") {
      return *effect;
    }
  }
  return std::nullopt;
}

std::map<std::string, Json> EffectTable::Archives() const {
  std::map<std::string, Json> out;
  const std::string begin = EffectArchiveKey("");
  for (auto row = rows_->rows().lower_bound(begin);
       row != rows_->rows().end() && row->first.starts_with(begin); ++row) {
    out.emplace(row->first.substr(begin.size()), row->second.value());
  }
  return out;
}

std::vector<Effect> EffectTable::All(std::vector<Error>& damaged) const {
  std::vector<Effect> out;
  const std::string begin = EffectKey("");
  for (auto row = rows_->rows().lower_bound(begin);
       row != rows_->rows().end() && row->first.starts_with(begin); ++row) {
    auto effect = Decode(row->first, row->second.value());
    if (effect) {
      out.push_back(*std::move(effect));
    } else {
      damaged.push_back(std::move(effect).error());
    }
  }
  std::ranges::stable_sort(out, {}, &Effect::planned_us);
  return out;
}

Result<EffectTable> ReadEffects(const StateRoot& state) {
  auto snapshot = ReadStore(StoreAccess::Of(state), kEffectStore, EffectStoreLimits());
  if (snapshot) {
    return EffectTable(std::make_shared<Table>(std::move(snapshot->table)));
  }
  if (snapshot.error().code == Code::kNotFound) {
    return EffectTable();
  }
  return Fail(std::move(snapshot).error());
}

std::string EffectArchiveKey(const std::string& number) { return "archive/" + number; }

Result<void> MoveToArchive(const StateRoot& state, const std::vector<Effect>& effects,
                           const std::string& number, Json archive) {
  auto store = OpenStore(state);
  if (!store) {
    return Fail(std::move(store).error());
  }
  if (store->table().FindRow(EffectArchiveKey(number)) != nullptr) {
    return Fail(Code::kExists, "there is an archive " + number + " of effects already",
                "try again");
  }
  // Borrowed: the store outlives it.
  const std::shared_ptr<const Table> rows(std::shared_ptr<const Table>(), &store->table());
  StoreChange change;
  for (const auto& effect : effects) {
    const auto now = EffectTable(rows).Find(effect.id);
    if (!now || *now != effect) {
      return Fail(Code::kNotFound, "effect " + effect.id + " was changed meanwhile", "try again");
    }
    change.erase.push_back(EffectKey(effect.id));
    if (!effect.evidence.empty()) {
      change.erase.push_back(EffectEvidenceKey(effect.id));
    }
  }
  change.put[EffectArchiveKey(number)] = std::move(archive);
  MACO_TRY(store->Commit(change, Durability::kRecordAndHead));
  return store->Close();
}

// A step that only moves an effect on may use the room that is kept for that, and fits it.
Result<void> ChangeEffects(const StateRoot& state, Durability durability,
                           const EffectDecision& decide) {
  auto store = OpenStore(state);
  if (!store) {
    return Fail(std::move(store).error());
  }
  std::vector<EffectStep> steps;
  // Borrowed: the store outlives the decision.
  const std::shared_ptr<const Table> rows(std::shared_ptr<const Table>(), &store->table());
  MACO_ASSIGN(steps, decide(EffectTable(rows)));
  if (steps.empty()) {
    return store->Close();
  }
  std::vector<StoreChange> changes;
  std::set<std::string> begun;
  for (auto& step : steps) {
    StoreChange change;
    const std::string key = EffectKey(step.effect.id);
    const std::size_t room = EffectStoreLimits().release_bytes;
    const bool known = store->table().FindRow(key) != nullptr;
    const bool first = begun.insert(key).second && !known;
    auto row = first ? EncodeFirstRow(step.effect, room) : EncodeLaterRow(step.effect, room);
    if (!row) {
      return Fail(std::move(row).error());
    }
    change.put[key] = *std::move(row);
    change.release = known && !step.request;
    if (first && !step.effect.evidence.empty()) {
      change.put[EffectEvidenceKey(step.effect.id)] = EncodeEvidence(step.effect.evidence);
    }
    if (step.request) {
      change.put[EffectRequestKey(step.effect.id)] = *std::move(step.request);
    }
    const std::string request = EffectRequestKey(step.effect.id);
    if (step.forget_request && store->table().FindRow(request) != nullptr) {
      change.erase.push_back(request);
    }
    changes.push_back(std::move(change));
  }
  MACO_TRY(store->CommitGroup(changes, durability));
  return store->Close();
}

Result<Directory> OpenEffectDirectory(const StateRoot& state) {
  return state.dir().OpenOrCreate(kEffectsName, 0700);
}

Result<UniqueFd> LockEffect(const StateRoot& state, const std::string& id, LogLock wait) {
  Directory directory;
  MACO_ASSIGN(directory, OpenEffectDirectory(state));
  auto lock =
      OfdLock::OpenLocked(directory, LockName(id), O_RDWR | O_CREAT, 0600, wait == LogLock::kWait);
  if (!lock && lock.error().code == Code::kBusy) {
    return Fail(Code::kBusy, "effect " + id + " is being sent by another process", "wait for it");
  }
  return lock;
}

void RemoveEffectLock(const StateRoot& state, const std::string& id) {
  if (const auto directory = state.dir().Open(kEffectsName)) {
    [[maybe_unused]] const auto removed = directory->Unlink(LockName(id));  // it is in nobody's way
  }
}

Result<bool> EffectLocked(const StateRoot& state, const std::string& id) {
  const auto directory = state.dir().Open(kEffectsName);
  if (!directory) {
    return directory.error().code == Code::kNotFound ? Result<bool>(false)
                                                     : Fail(directory.error());
  }
  const auto fd = directory->OpenFile(LockName(id), O_RDWR);
  if (!fd) {
    return fd.error().code == Code::kNotFound ? Result<bool>(false) : Fail(fd.error());
  }
  return OfdLock::HeldByOther(fd->get());
}

}  // namespace maco

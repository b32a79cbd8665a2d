// Looking for one effect, adopting a receipt, giving up.
// Contract: maco-effect/reconcile.h.
#include "maco-effect/reconcile.h"

#include "libcommon/base/clock.h"
#include "libcommon/base/text.h"
#include "maco-effect/hold.h"
#include "maco-effect/receipt.h"
#include "maco-effect/request.h"
#include "maco-effect/shown_url.h"

namespace maco::effect {
namespace {

Result<Effect> RecoverLocked(const Sending& sending, const std::string& id) {
  EffectTable table;
  MACO_ASSIGN(table, ReadEffects(*sending.state));
  Effect effect;
  MACO_ASSIGN(effect, table.Choose(id));
  if (effect.state == "observed") {
    return Complete(sending, effect);
  }
  if (effect.state != "started") {
    return effect;
  }
  const Json* document = table.RequestOf(id);
  if (document == nullptr) {
    return Fail(Code::kCorrupt, "the request of effect " + id + " is missing",
                "git maco journal verify store/effects");
  }
  Request request;
  MACO_ASSIGN(request, DecodeRequest(*document));
  auto found = sending.transport->Find(request, effect);
  if (!found) {
    return Fail(std::move(found).error());
  }
  return Adopt(sending, effect, *found, "");
}

// Whether a receipt of a push names the object that was to be pushed.
bool AskedFor(const EffectTable& table, const Effect& effect) {
  const Json* document = table.RequestOf(effect.id);
  const auto request = document != nullptr ? DecodeRequest(*document) : Fail(Code::kNotFound, "");
  return request && effect.receipt.id == request->ref + "@" + request->oid;
}

struct Adoption {
  Receipt receipt;
  std::string reason;  // for the row
};

// Everything that speaks against a receipt. Errors: kUsage, kRefused.
Result<Adoption> CheckReceipt(const Sending& sending, const EffectTable& table,
                              const Effect& effect, const OperatorWord& word) {
  if (effect.state != "started" && effect.state != "observed") {
    return Fail(Code::kRefused,
                "effect " + effect.id + " is " + effect.state + ", so nothing is to adopt");
  }
  Effect adopted = effect;
  MACO_ASSIGN(adopted.receipt, ReceiptOf(effect, word.receipt));
  auto look = sending.transport->Fetch(adopted);
  if (look && effect.operation == "push" && !AskedFor(table, adopted)) {
    look = Look{Look::Kind::kChanged, "that is not what was to be pushed"};
  }
  if (look && (look->kind == Look::Kind::kSame || look->kind == Look::Kind::kLater)) {
    return Adoption{adopted.receipt, "adopted by a person"};
  }
  const std::string doubt = look ? look->words : Describe(look.error());
  if (word.note.empty()) {
    return Fail(Code::kRefused, "'" + ShownUrl(word.receipt) + "' does not fit: " + doubt,
                "take it on your word with --note TEXT");
  }
  return Adoption{adopted.receipt, Short("adopted by a person, though: " + doubt)};
}

Result<Effect> AdoptByWord(const Sending& sending, const Effect& effect, const Adoption& adoption,
                           const std::string& note) {
  if (effect.state == "started") {
    MACO_TRY(Observe(*sending.state, effect, adoption.receipt));
  }
  return Advance(*sending.state, effect.id, "observed", Durability::kRecordAndHead,
                 [&](Effect& row) {
                   row.state = "completed";
                   row.receipt = adoption.receipt;
                   row.completed_us = WallMicros();
                   row.note = Short(note);
                   row.reason = adoption.reason;
                 });
}

Result<Effect> Abandon(const Sending& sending, const Effect& effect, const std::string& note) {
  return Advance(*sending.state, effect.id, effect.state, Durability::kRecordAndHead,
                 [&](Effect& row) {
                   row.state = "abandoned";
                   row.note = Short(note);
                   row.completed_us = WallMicros();
                 });
}

Result<Effect> ReconcileLocked(const Sending& sending, const std::string& id,
                               const OperatorWord& word) {
  EffectTable table;
  MACO_ASSIGN(table, ReadEffects(*sending.state));
  Effect effect;
  MACO_ASSIGN(effect, table.Choose(id));
  if (word.receipt.empty()) {
    if (effect.state == "completed") {
      return Fail(Code::kRefused, "effect " + id + " is completed", "there is nothing to abandon");
    }
    return word.dry_run ? Result<Effect>(effect) : Abandon(sending, effect, word.note);
  }
  Adoption adoption;
  MACO_ASSIGN(adoption, CheckReceipt(sending, table, effect, word));
  return word.dry_run ? Result<Effect>(effect) : AdoptByWord(sending, effect, adoption, word.note);
}

}  // namespace

Result<Effect> RecoverEffect(const Sending& sending, const std::string& id) {
  const auto hold = Hold::Take(*sending.state, id, LogLock::kTry);
  return hold ? RecoverLocked(sending, id) : Fail(hold.error());
}

Result<Effect> ReconcileEffect(const Sending& sending, const std::string& id,
                               const OperatorWord& word) {
  if (word.dry_run) {  // without the lock, whose file would be a change
    bool busy = false;
    MACO_ASSIGN(busy, EffectLocked(*sending.state, id));
    return busy ? Fail(Code::kBusy, "effect " + id + " is being sent by another process",
                       "wait for it")
                : ReconcileLocked(sending, id, word);
  }
  const auto hold = Hold::Take(*sending.state, id, LogLock::kTry);
  return hold ? ReconcileLocked(sending, id, word) : Fail(hold.error());
}

}  // namespace maco::effect

// The write-ahead order: nothing is sent before "started" is durable, nothing is sent twice.
// Contract: maco-effect/send.h.
#include "maco-effect/send.h"

#include <algorithm>
#include <thread>

#include "libcommon/base/clock.h"
#include "libcommon/base/exit_code.h"
#include "libcommon/base/text.h"
#include "libcommon/cli/output.h"
#include "maco-effect/archive_segment.h"
#include "maco-effect/receipt.h"

namespace maco::effect {
namespace {

constexpr std::size_t kMaxReason = 400;

std::string Short(const std::string& reason) { return Shorten(EscapeControl(reason), kMaxReason); }

// The lock of one effect, whose file goes with it: who waits for it finds another one.
class Hold {
 public:
  static Result<Hold> Take(const StateRoot& state, const std::string& id, LogLock wait) {
    auto lock = LockEffect(state, id, wait);
    return lock ? Result<Hold>(Hold(state, id, *std::move(lock))) : Fail(std::move(lock).error());
  }
  Hold(Hold&&) noexcept = default;
  Hold& operator=(Hold&&) = delete;
  ~Hold() {
    if (lock_.valid()) {
      RemoveEffectLock(state_, id_);
    }
  }

 private:
  Hold(const StateRoot& state, std::string id, UniqueFd lock)
      : state_(state), id_(std::move(id)), lock_(std::move(lock)) {}
  const StateRoot& state_;
  std::string id_;
  UniqueFd lock_;
};

Error OtherContent(const Effect& plan, const Effect& other) {
  const std::string action = EscapeControl(plan.action);
  return MakeError(Code::kExists,
                   "action '" + action + "' was " + other.state +
                       " already with other content, as effect " + other.id,
                   "say that this is another one: --action " + action + "@REV");
}

Error Abandoned(const Effect& effect) {
  return MakeError(Code::kExists, "effect " + effect.id + " was abandoned: " + effect.note,
                   "to do it all the same give --action NAME");
}

// One action, one content. Errors: kExists.
Result<void> CheckSubject(const EffectTable& table, const Effect& plan) {
  const auto other = table.WithSubject(plan.subject);
  if (other && other->id != plan.id) {
    return Fail(OtherContent(plan, *other));
  }
  return {};
}

// What stands in the way of planning it. Errors: kExists, kCorrupt.
Result<void> CheckNew(const StateRoot& state, const EffectTable& table, const Effect& plan) {
  MACO_TRY(CheckSubject(table, plan));
  std::optional<Effect> archived;
  MACO_ASSIGN(archived, FindArchived(state, table, [&plan](const Effect& effect) {
                return effect.id == plan.id ||
                       (effect.subject == plan.subject && effect.state != "abandoned");
              }));
  if (archived && archived->id != plan.id) {
    return Fail(OtherContent(plan, *archived));
  }
  if (archived) {
    return Fail(Code::kExists,
                "that was " + archived->state + " already and is in an archive, as effect " +
                    archived->id +
                    (archived->receipt.url.empty() ? "" : ", " + archived->receipt.url),
                "for another one give --action NAME");
  }
  return {};
}

// Moves a row on, if it still is what `from` says.
Result<Effect> Advance(const StateRoot& state, const std::string& id, const std::string& from,
                       Durability durability, const std::function<void(Effect&)>& change) {
  Effect out;
  MACO_TRY(ChangeEffects(
      state, durability, [&](const EffectTable& table) -> Result<std::vector<EffectStep>> {
        std::optional<Effect> row;
        MACO_ASSIGN(row, table.Find(id));
        if (!row || row->state != from) {
          return Fail(Code::kBusy, "effect " + id + " was changed by another command",
                      "look at it again: git maco effect show " + id);
        }
        out = *std::move(row);
        change(out);
        const bool done = !out.open() && out.state != "failed";
        return std::vector<EffectStep>{{out, std::nullopt, done}};
      }));
  return out;
}

Result<Effect> Observe(const StateRoot& state, const Effect& effect, const Receipt& receipt) {
  return Advance(state, effect.id, effect.state, Durability::kRecord, [&](Effect& row) {
    row.state = "observed";
    row.receipt = receipt;
    row.observed_us = WallMicros();
    row.reason.clear();
  });
}

Result<Effect> Explain(const StateRoot& state, const Effect& effect, const std::string& reason) {
  if (effect.reason == Short(reason)) {
    return effect;
  }
  return Advance(state, effect.id, effect.state, Durability::kRecord,
                 [&](Effect& row) { row.reason = Short(reason); });
}

// From observed to completed, if the remote still has what was asked for.
Result<Effect> Complete(const Sending& sending, const Effect& effect) {
  const auto look = sending.transport->Fetch(effect);
  if (!look) {
    return Explain(*sending.state, effect, "not read back: " + Describe(look.error()));
  }
  if (look->kind == Look::Kind::kGone || look->kind == Look::Kind::kChanged) {
    return Explain(*sending.state, effect, look->words);
  }
  return Advance(*sending.state, effect.id, "observed", Durability::kRecord, [&](Effect& row) {
    row.state = "completed";
    row.completed_us = WallMicros();
    row.reason = look->kind == Look::Kind::kLater ? Short(look->words) : "";
  });
}

std::string WhyUncertain(const Found& found) {
  if (found.ours.size() > 1) {
    return "the remote has it " + std::to_string(found.ours.size()) +
           " times: " + found.ours[0].id + ", " + found.ours[1].id;
  }
  return found.odd.empty() ? "the remote does not show it; lists may lag behind"
                           : found.odd.front();
}

// Adopts the one receipt that fits; any other number is a person's business (EFF-03).
Result<Effect> Adopt(const Sending& sending, const Effect& effect, const Found& found,
                     const std::string& before) {
  if (found.ours.size() != 1) {
    return Explain(*sending.state, effect,
                   (before.empty() ? "" : before + "; ") + WhyUncertain(found));
  }
  Effect observed;
  MACO_ASSIGN(observed, Observe(*sending.state, effect, found.ours.front()));
  return Complete(sending, observed);
}

// Looks at once and again at growing distances, since lists lag.
Result<Found> Settle(const Sending& sending, const Request& request, const Effect& effect) {
  constexpr std::chrono::milliseconds kFirst{500};
  const auto end = Monotonic::now() + sending.settle;
  for (auto wait = kFirst;; wait *= 2) {
    auto found = sending.transport->Find(request, effect);
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Monotonic::now());
    if ((found && !found->ours.empty()) || left.count() <= 0) {
      return found;
    }
    std::this_thread::sleep_for(std::min(wait, left));
  }
}

Result<Effect> Conclude(const Sending& sending, const Request& request, const Effect& effect,
                        const Outcome& outcome) {
  if (outcome.kind == Outcome::Kind::kApplied) {
    Effect observed;
    MACO_ASSIGN(observed, Observe(*sending.state, effect, outcome.receipt));
    return Complete(sending, observed);
  }
  const auto failed = [&](const std::string& reason) {
    return Advance(*sending.state, effect.id, "started", Durability::kRecord, [&](Effect& row) {
      row.state = "failed";
      row.reason = Short(reason);
      row.not_before_us = outcome.not_before_us;
    });
  };
  if (outcome.kind == Outcome::Kind::kNotApplied) {
    return failed(outcome.reason);
  }
  const auto found = outcome.kind == Outcome::Kind::kExists
                         ? sending.transport->Find(request, effect)
                         : Settle(sending, request, effect);
  if (!found) {
    return Explain(*sending.state, effect, outcome.reason + "; " + Describe(found.error()));
  }
  if (outcome.kind == Outcome::Kind::kExists && found->rival) {
    return failed(outcome.reason);
  }
  return Adopt(sending, effect, *found, outcome.reason);
}

// The row as it is to be when the request leaves.
Result<Effect> Start(const Sending& sending, const Request& request, const Effect& plan,
                     const Before& before) {
  Effect out;
  const auto committed = ChangeEffects(
      *sending.state, Durability::kRecordAndHead,
      [&](const EffectTable& table) -> Result<std::vector<EffectStep>> {
        std::vector<EffectStep> steps;
        std::optional<Effect> row;
        MACO_ASSIGN(row, table.Find(plan.id));
        if (!row) {
          MACO_TRY(CheckNew(*sending.state, table, plan));
          steps.push_back({plan, std::nullopt, false});
        }
        MACO_TRY(CheckSubject(table, plan));
        out = row ? *row : plan;
        if (out.state != "planned" && out.state != "failed") {
          return Fail(Code::kBusy, "effect " + plan.id + " was changed by another command",
                      "look at it again: git maco effect show " + plan.id);
        }
        out.state = "started";
        out.reason.clear();
        out.not_before_us = 0;
        out.started_us = WallMicros();
        out.attempts += 1;
        out.actor_id = before.actor_id;
        out.repository_id = before.repository_id;
        out.since_us = before.since_us;
        steps.push_back({out, Encode(request), false});
        return steps;
      });
  MACO_TRY(committed);
  return out;
}

Result<Effect> SendLocked(const Sending& sending, Request request, const Effect& plan) {
  EffectTable table;
  MACO_ASSIGN(table, ReadEffects(*sending.state));
  std::optional<Effect> known;
  MACO_ASSIGN(known, table.Find(plan.id));
  if (!known) {
    MACO_TRY(CheckNew(*sending.state, table, plan));
  } else if (known->state == "abandoned") {
    return Fail(Abandoned(*known));
  } else if (known->state != "planned" && known->state != "failed") {
    return *std::move(known);
  } else if (known->not_before_us > WallMicros()) {
    return Fail(Code::kBusy, "the forge asked to wait: " + known->reason,
                "try again after " + UtcTime(known->not_before_us));
  }
  Before before;
  MACO_ASSIGN(before, sending.transport->Prepare(request, known ? *known : plan));
  Effect started;
  MACO_ASSIGN(started, Start(sending, request, plan, before));
  const Outcome outcome = sending.transport->Send(request, started);
  auto after = Conclude(sending, request, started, outcome);
  if (!after) {
    started.reason = Short("what became of it is not on record: " + Describe(after.error()) +
                           (outcome.reason.empty() ? "" : "; " + outcome.reason));
    return started;
  }
  return after;
}

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

Result<Effect> ReconcileLocked(const Sending& sending, const std::string& id,
                               const std::string& receipt, const std::string& note) {
  EffectTable table;
  MACO_ASSIGN(table, ReadEffects(*sending.state));
  Effect effect;
  MACO_ASSIGN(effect, table.Choose(id));
  if (receipt.empty()) {
    if (effect.state == "completed") {
      return Fail(Code::kRefused, "effect " + id + " is completed", "there is nothing to abandon");
    }
    return Advance(*sending.state, id, effect.state, Durability::kRecordAndHead, [&](Effect& row) {
      row.state = "abandoned";
      row.note = Short(note);
      row.completed_us = WallMicros();
    });
  }
  if (effect.state != "started" && effect.state != "observed") {
    return Fail(Code::kRefused,
                "effect " + id + " is " + effect.state + ", so nothing is to adopt");
  }
  Effect adopted = effect;
  MACO_ASSIGN(adopted.receipt, ReceiptOf(effect, receipt));
  auto look = sending.transport->Fetch(adopted);
  if (look && effect.operation == "push" && !AskedFor(table, adopted)) {
    look = Look{Look::Kind::kChanged, "that is not what was to be pushed"};
  }
  const bool fits = look && (look->kind == Look::Kind::kSame || look->kind == Look::Kind::kLater);
  if (!fits && note.empty()) {
    return Fail(Code::kRefused,
                "'" + EscapeControl(receipt) +
                    "' does not fit: " + (look ? look->words : Describe(look.error())),
                "take it on your word with --note TEXT");
  }
  if (effect.state == "started") {
    MACO_ASSIGN(effect, Observe(*sending.state, effect, adopted.receipt));
  }
  return Advance(*sending.state, id, "observed", Durability::kRecordAndHead, [&](Effect& row) {
    row.state = "completed";
    row.receipt = adopted.receipt;
    row.completed_us = WallMicros();
    row.note = Short(note);
    row.reason = fits ? "adopted by a person"
                      : Short("adopted by a person, though: " +
                              (look ? look->words : Describe(look.error())));
  });
}

}  // namespace

Result<Effect> RecordPlan(const StateRoot& state, const Request& request, const Effect& plan) {
  Effect out = plan;
  const auto committed =
      ChangeEffects(state, Durability::kRecordAndHead,
                    [&](const EffectTable& table) -> Result<std::vector<EffectStep>> {
                      std::optional<Effect> row;
                      MACO_ASSIGN(row, table.Find(plan.id));
                      if (row && row->state == "abandoned") {
                        return Fail(Abandoned(*row));
                      }
                      if (row) {
                        out = *std::move(row);
                        return std::vector<EffectStep>();
                      }
                      MACO_TRY(CheckNew(state, table, plan));
                      return std::vector<EffectStep>{{plan, Encode(request), false}};
                    });
  MACO_TRY(committed);
  return out;
}

Result<Effect> SendEffect(const Sending& sending, Request request, const Effect& plan) {
  const auto hold = Hold::Take(*sending.state, plan.id, LogLock::kWait);
  return hold ? SendLocked(sending, std::move(request), plan) : Fail(hold.error());
}

Result<Effect> RecoverEffect(const Sending& sending, const std::string& id) {
  const auto hold = Hold::Take(*sending.state, id, LogLock::kTry);
  return hold ? RecoverLocked(sending, id) : Fail(hold.error());
}

Result<Effect> ReconcileEffect(const Sending& sending, const std::string& id,
                               const std::string& receipt, const std::string& note) {
  const auto hold = Hold::Take(*sending.state, id, LogLock::kTry);
  return hold ? ReconcileLocked(sending, id, receipt, note) : Fail(hold.error());
}

int StatusOf(const Effect& effect) {
  if (effect.state == "completed") {
    return kExitOk;
  }
  return effect.state == "started" || effect.state == "observed" ? kExitUnproven : kExitNo;
}

}  // namespace maco::effect

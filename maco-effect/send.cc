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
#include "maco-effect/hold.h"

namespace maco::effect {
namespace {

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
                         ? sending.transport->FindWithRival(request, effect)
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

// No forge is taken at its word for more than a day: a time beyond that is of a clock that was
// wrong, theirs or ours.
bool MustWait(const Effect& effect) {
  constexpr std::uint64_t kDay = 86'400'000'000;
  const std::uint64_t now = WallMicros();
  return effect.not_before_us > now && effect.not_before_us - now <= kDay;
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
  } else if (MustWait(*known)) {
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

int StatusOf(const Effect& effect) {
  if (effect.state == "completed") {
    return kExitOk;
  }
  return effect.state == "started" || effect.state == "observed" ? kExitUnproven : kExitNo;
}

}  // namespace maco::effect

// `recover`, `reconcile`, `verify`: what the remotes have, against what is on record.
#include <map>

#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"
#include "libcommon/base/text.h"
#include "libcommon/cli/document.h"
#include "libcommon/cli/output.h"
#include "maco-effect/place.h"
#include "maco-effect/receipt.h"
#include "maco-effect/send.h"
#include "maco-effect/verbs.h"
#include "maco-effect/view.h"

namespace maco::effect {
namespace {

// The effects that were named, or all of the wanted states.
Result<std::vector<Effect>> Chosen(const EffectTable& table, const Options& options,
                                   const std::vector<std::string>& states) {
  std::vector<Effect> out;
  for (const auto& name : options.names) {
    Effect effect;
    MACO_ASSIGN(effect, table.Choose(name));
    out.push_back(std::move(effect));
  }
  if (!options.names.empty()) {
    return out;
  }
  std::vector<Error> damaged;
  for (auto& effect : table.All(damaged)) {
    if (std::find(states.begin(), states.end(), effect.state) != states.end()) {
      out.push_back(std::move(effect));
    }
  }
  for (const auto& error : damaged) {
    Report(kTool, error);
  }
  return out;
}

struct Opened {
  Place place;
  std::unique_ptr<StateRoot> state;
  EffectTable table;
};

Result<Opened> Open(Access access) {
  Opened out;
  MACO_ASSIGN(out.place, FindPlace());
  auto state = OpenState(out.place, access);
  if (!state) {
    return Fail(std::move(state).error());
  }
  out.state = std::make_unique<StateRoot>(*std::move(state));
  MACO_ASSIGN(out.table, ReadEffects(*out.state));
  return out;
}

Result<std::unique_ptr<Transport>> TransportFor(const Opened& opened, const Effect& effect) {
  return TransportOf(opened.place, *opened.state, effect.transport, effect.repository,
                     effect.candidate);
}

Json Verdict(const Effect& effect, const std::string& word, const std::string& words) {
  return {{"id", effect.id}, {"verdict", word}, {"words", words}};
}

}  // namespace

Result<int> Recover(const Options& options) {
  Opened opened;
  MACO_ASSIGN(opened, Open(Access::kWrite));
  std::vector<Effect> effects;
  MACO_ASSIGN(effects, Chosen(opened.table, options, {"started", "observed"}));
  int worst = kExitOk;
  Json list = Json::array();
  for (const auto& effect : effects) {
    auto transport = TransportFor(opened, effect);
    auto after = transport ? RecoverEffect({opened.state.get(), transport->get(), {}}, effect.id)
                           : Result<Effect>(Fail(transport.error()));
    if (!after) {
      Report(kTool, after.error());  // one effect's problem is no other's
      worst = kExitUnproven;
      after = effect;
    }
    const EffectSight sight = LookAtEffect(*opened.state, *after);
    if (options.json) {
      list.push_back(Document(sight, *after));
    } else {
      MACO_TRY(Print(after->id + " " + Sentence(*after) + "\n"));
    }
    if (after->state == "started" || after->state == "observed") {
      Note(kTool, "effect " + after->id +
                      " is for a person to decide; git maco effect reconcile --adopt RECEIPT | "
                      "--abandon --note TEXT " +
                      after->id);
      worst = kExitUnproven;
    }
  }
  if (options.json) {
    MACO_TRY(PrintDocument("maco.effects/1", {{"effects", std::move(list)}}));
  }
  return worst;
}

Result<int> Reconcile(const Options& options) {
  Opened opened;
  MACO_ASSIGN(opened, Open(Access::kWrite));
  Effect effect;
  MACO_ASSIGN(effect, opened.table.Choose(options.names.front()));
  if (!options.adopt.empty()) {
    MACO_TRY(ReceiptOf(effect, options.adopt));
  }
  if (options.dry_run) {
    MACO_TRY(Print("would " + std::string(options.abandon ? "abandon" : "complete") + " effect " +
                   effect.id + "\n"));
    return kExitOk;
  }
  std::unique_ptr<Transport> transport;
  if (!options.abandon) {
    MACO_ASSIGN(transport, TransportFor(opened, effect));
  }
  const auto after = ReconcileEffect({opened.state.get(), transport.get(), {}}, effect.id,
                                     options.adopt, options.note);
  if (!after && after.error().code == Code::kRefused) {
    Report(kTool, after.error());
    return kExitNo;
  }
  return after ? Answer(*opened.state, *after, options.json,
                        options.abandon ? "abandoned" : "completed")
               : Fail(after.error());
}

Result<int> Verify(const Options& options) {
  Opened opened;
  MACO_ASSIGN(opened, Open(Access::kRead));
  std::vector<Effect> effects;
  MACO_ASSIGN(effects, Chosen(opened.table, options, {"completed", "observed"}));
  int worst = kExitOk;
  Json list = Json::array();
  for (const auto& effect : effects) {
    std::string word = "unread";
    std::string words = "it has no receipt";
    if (!effect.receipt.id.empty()) {
      const auto transport = TransportFor(opened, effect);
      const auto look =
          transport ? (*transport)->Fetch(effect) : Result<Look>(Fail(transport.error()));
      words = look ? look->words : Describe(look.error());
      word = !look                              ? "unread"
             : look->kind == Look::Kind::kSame  ? "same"
             : look->kind == Look::Kind::kLater ? "later"
             : look->kind == Look::Kind::kGone  ? "gone"
                                                : "changed";
    }
    if (word != "same" && word != "later") {
      worst = kExitNo;
    }
    if (options.json) {
      list.push_back(Verdict(effect, word, words));
    } else {
      MACO_TRY(Print(effect.id + " " + Padded(word, 8) + EffectWords(effect) + ": " +
                     EscapeControl(words) + "\n"));
    }
  }
  if (options.json) {
    MACO_TRY(PrintDocument("maco.effect-verdicts/1", {{"effects", std::move(list)}}));
  }
  return worst;
}

}  // namespace maco::effect

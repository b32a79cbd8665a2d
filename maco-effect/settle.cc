// `recover`, `reconcile`, `verify`: what the remotes have, against what is on record.
#include <algorithm>

#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"
#include "libcommon/base/text.h"
#include "libcommon/cli/document.h"
#include "libcommon/cli/output.h"
#include "maco-effect/choice.h"
#include "maco-effect/place.h"
#include "maco-effect/receipt.h"
#include "maco-effect/reconcile.h"
#include "maco-effect/send.h"
#include "maco-effect/verbs.h"
#include "maco-effect/view.h"

namespace maco::effect {
namespace {

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

// Of what may still be sent or looked for, the request says where to.
Result<std::unique_ptr<Transport>> TransportFor(const Opened& opened, const Effect& effect) {
  Request request;
  if (const Json* document = opened.table.RequestOf(effect.id); document != nullptr) {
    MACO_ASSIGN(request, DecodeRequest(*document));
  }
  return TransportOf(opened.place, *opened.state, effect, request.api);
}

// A row that does not decode may be one of those that are asked for: then not all is well.
int ReportDamaged(const std::vector<Error>& damaged) {
  for (const auto& error : damaged) {
    Report(kTool, error);
  }
  return damaged.empty() ? kExitOk : kExitNo;
}

Json Verdict(const Effect& effect, const std::string& word, const std::string& words) {
  return {{"id", effect.id}, {"verdict", word}, {"words", words}};
}

}  // namespace

Result<int> Recover(const Options& options) {
  Opened opened;
  MACO_ASSIGN(opened, Open(Access::kWrite));
  Choice choice;
  MACO_ASSIGN(choice, ChooseEffects(*opened.state, opened.table,
                                    {options.names, {"started", "observed"}, Where::kLog}));
  int worst = ReportDamaged(choice.damaged);
  Json list = Json::array();
  for (const auto& effect : choice.effects) {
    auto transport = TransportFor(opened, effect);
    auto after = transport ? RecoverEffect({opened.state.get(), transport->get(), {}}, effect.id)
                           : Result<Effect>(Fail(transport.error()));
    if (!after) {
      Report(kTool, after.error());  // one effect's problem is no other's
      after = effect;
      worst = std::max(worst, kExitNo);
    }
    worst = std::max(worst, StatusOf(*after));  // 122 before 1 before 0
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
    }
  }
  if (options.json) {
    MACO_TRY(PrintDocument("maco.effects/1", {{"effects", std::move(list)}}));
  }
  return worst;
}

Result<int> Reconcile(const Options& options) {
  Opened opened;
  MACO_ASSIGN(opened, Open(options.dry_run ? Access::kRead : Access::kWrite));
  Effect effect;
  MACO_ASSIGN(effect, opened.table.Choose(options.names.front()));
  std::unique_ptr<Transport> transport;
  if (!options.abandon) {
    MACO_TRY(ReceiptOf(effect, options.adopt));
    auto made = TransportFor(opened, effect);
    if (!made) {
      return SayNo(made.error());
    }
    transport = *std::move(made);
  }
  const auto after = ReconcileEffect({opened.state.get(), transport.get(), {}}, effect.id,
                                     {options.adopt, options.note, options.dry_run});
  if (!after) {
    return SayNo(after.error());
  }
  if (!options.dry_run) {
    return Answer(*opened.state, *after, options.json, options.abandon ? "abandoned" : "completed");
  }
  if (options.json) {
    MACO_TRY(
        PrintDocument("maco.effect-view/1", Document(LookAtEffect(*opened.state, *after), *after)));
  } else {
    MACO_TRY(Print("would " + std::string(options.abandon ? "abandon" : "complete") + " effect " +
                   effect.id + "\n"));
  }
  return kExitOk;
}

Result<int> Verify(const Options& options) {
  Opened opened;
  MACO_ASSIGN(opened, Open(Access::kRead));
  Choice choice;
  MACO_ASSIGN(choice,
              ChooseEffects(*opened.state, opened.table,
                            {options.names, {"completed", "observed"}, Where::kArchivesToo}));
  int worst = ReportDamaged(choice.damaged);
  Json list = Json::array();
  for (const auto& effect : choice.effects) {
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

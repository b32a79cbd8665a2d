// `list`, `show`: what is on record. Nobody is asked, nothing is written.
#include <algorithm>

#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"
#include "libcommon/base/text.h"
#include "libcommon/cli/document.h"
#include "libcommon/cli/output.h"
#include "maco-effect/archive_segment.h"
#include "maco-effect/choice.h"
#include "maco-effect/place.h"
#include "maco-effect/verbs.h"
#include "maco-effect/view.h"

namespace maco::effect {
namespace {

constexpr std::size_t kIdColumn = 13;
constexpr std::size_t kStateColumn = 11;

std::string Line(const EffectSight& sight) {
  std::string out =
      Padded(sight.id.substr(0, 12), kIdColumn) + Padded(sight.state, kStateColumn) + sight.what;
  if (!sight.url.empty()) {
    out += "  " + EscapeControl(sight.url);
  }
  if (!sight.reason.empty()) {
    out += "  (" + sight.reason + ")";
  }
  if (!sight.next.empty()) {
    out += "\n" + std::string(kIdColumn, ' ') + "next: " + sight.next;
  }
  return out + "\n";
}

// Legacy publication entries of other tools are plain files; they are told, never touched (EFF-06).
void TellLegacy(const StateRoot& state) {
  for (const char* name : {"publications", "publication", "external-effects"}) {
    if (state.dir().Stat(name)) {
      Note(kTool, std::string("'maco/") + name +
                      "' holds unsigned entries of an older tool; they do not count and are left");
    }
  }
}

}  // namespace

Result<int> List(const Options& options) {
  Place place;
  MACO_ASSIGN(place, FindRepositoryPlace());
  auto state = OpenState(place, Access::kRead);
  if (!state) {
    return Fail(std::move(state).error());
  }
  TellLegacy(*state);
  EffectTable table;
  MACO_ASSIGN(table, ReadEffects(*state));
  std::vector<Error> damaged;
  std::vector<Effect> effects = table.All(damaged);
  if (options.all) {
    for (const auto& [number, row] : table.Archives()) {
      auto archived = ReadArchive(*state, number, row);
      if (!archived) {
        damaged.push_back(std::move(archived).error());
        continue;
      }
      effects.insert(effects.end(), archived->begin(), archived->end());
    }
    std::ranges::stable_sort(effects, {}, &Effect::planned_us);
  }
  for (const auto& error : damaged) {
    Report(kTool, error);
  }
  Json list = Json::array();
  std::string text;
  for (const auto& effect : effects) {
    const EffectSight sight = LookAtEffect(*state, effect);
    if (options.json) {
      list.push_back(Document(sight, effect));
    } else if (options.nul) {
      text += effect.id + "\t" + sight.state + "\t" + sight.what + "\t" + EscapeControl(sight.url) +
              '\0';
    } else {
      text += Line(sight);
    }
  }
  if (options.json) {
    MACO_TRY(PrintDocument("maco.effects/1", {{"effects", std::move(list)}}));
  } else {
    MACO_TRY(Print(text));
  }
  return damaged.empty() ? kExitOk : kExitNo;
}

Result<int> Show(const Options& options) {
  Place place;
  MACO_ASSIGN(place, FindRepositoryPlace());
  auto state = OpenState(place, Access::kRead);
  if (!state) {
    return Fail(std::move(state).error());
  }
  EffectTable table;
  MACO_ASSIGN(table, ReadEffects(*state));
  const auto effect = ChooseEffect(*state, table, options.names.front(), Where::kArchivesToo);
  if (!effect) {
    return Fail(effect.error());
  }
  const EffectSight sight = LookAtEffect(*state, *effect);
  if (options.json) {
    Json document = Document(sight, *effect);
    const Json* request = table.RequestOf(effect->id);
    document["request"] = request != nullptr ? *request : Json(nullptr);
    MACO_TRY(PrintDocument("maco.effect-view/1", std::move(document)));
    return kExitOk;
  }
  std::string text = "effect " + effect->id + "\n" + "  what       " + sight.what + "\n" +
                     "  action     " + EscapeControl(effect->action) + "\n" + "  state      " +
                     sight.state + "\n";
  const auto line = [&text](const char* name, const std::string& value) {
    if (!value.empty()) {
      text += "  " + Padded(name, 11) + EscapeControl(value) + "\n";
    }
  };
  const auto time = [&line](const char* name, std::uint64_t micros) {
    line(name, micros != 0 ? UtcTime(micros) : "");
  };
  line("reason", effect->reason);
  line("receipt", effect->receipt.id);
  line("url", effect->receipt.url);
  line("marker", effect->marker);
  line("candidate", effect->candidate);
  for (const auto& digest : effect->evidence) {
    line("evidence", digest);
  }
  line("note", effect->note);
  time("planned", effect->planned_us);
  time("started", effect->started_us);
  time("observed", effect->observed_us);
  time("completed", effect->completed_us);
  line("next", sight.next);
  MACO_TRY(Print(text));
  return kExitOk;
}

}  // namespace maco::effect

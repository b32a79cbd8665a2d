// Iteration over runs/, counting, lines and JSON members; text from outside is escaped.
// Contract: git-maco/status/survey.h.
#include "git-maco/status/survey.h"

#include <algorithm>

#include "git-maco/status/line.h"
#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/clock.h"
#include "libcommon/base/text.h"
#include "libcommon/cli/output.h"
#include "libcommon/lane/needed_runs.h"
#include "libcommon/state/retention_settings.h"
#include "libcommon/store/store_list.h"
#include "libcommon/store/store_reader.h"

namespace maco::status {
namespace {

constexpr std::size_t kMaxRuns = 1'000'000;
constexpr std::size_t kMaxShownCommand = 120;

// The events of docs/formats/run.md, in their order, and the word for people.
constexpr std::pair<const char*, const char*> kEvents[] = {
    {"none", "without an event"},     {"run_planned", "planned"},
    {"command_started", "started"},   {"command_completed", "completed"},
    {"command_unproven", "unproven"}, {"run_refused", "refused"},
    {"run_resolved", "resolved"},
};

bool IsKnown(const std::string& event) {
  return std::ranges::any_of(kEvents, [&event](const auto& known) { return event == known.first; });
}

// The words of a command for people; an argument that is not UTF-8 is shown as such.
std::string CommandText(const Json& command) {
  std::string out;
  for (const auto& word : command.is_array() ? command : Json::array()) {
    out += (out.empty() ? "" : " ") +
           (word.is_string() ? word.get<std::string>() : std::string("<bytes>"));
  }
  out = EscapeControl(out);
  if (out.size() > kMaxShownCommand) {
    out.resize(kMaxShownCommand);
    // Not in the middle of a character.
    while (!IsUtf8(out)) {
      out.pop_back();
    }
    out += "...";
  }
  return out;
}

std::string Counts(const Survey& survey) {
  std::string out = std::to_string(survey.total);
  std::string separator = ": ";
  const auto add = [&](std::uint64_t count, const std::string& word) {
    if (count != 0) {
      out += separator + std::to_string(count) + " " + word;
      separator = ", ";
    }
  };
  for (const auto& [event, word] : kEvents) {
    const auto found = survey.by_last_event.find(event);
    add(found == survey.by_last_event.end() ? 0 : found->second, word);
  }
  for (const auto& [event, count] : survey.by_last_event) {
    if (!IsKnown(event)) {
      add(count, EscapeControl(event));
    }
  }
  add(survey.damaged.size(), "damaged");
  return out;
}

std::string AttentionText(const char* word, const Attention& attention) {
  const RunSight& sight = attention.sight;
  std::string text = sight.id + ": " + attention.verdict.message;
  if (sight.started_us != 0) {
    text += "; started " + UtcTime(sight.started_us);
  }
  if (const std::string command = CommandText(sight.command); !command.empty()) {
    text += "; command: " + command;
  }
  return Line(word, text) + Fix(attention.verdict.remedy);
}

Json AttentionJson(const std::vector<Attention>& list) {
  Json out = Json::array();
  for (const Attention& attention : list) {
    const RunSight& sight = attention.sight;
    out.push_back(
        {{"run", EscapeControl(sight.id)},
         {"message", EscapeControl(attention.verdict.message)},
         {"remedy", EscapeControl(attention.verdict.remedy)},
         {"last_event", sight.last_event.empty() ? Json(nullptr) : Json(sight.last_event)},
         {"started_us", sight.started_us == 0 ? Json(nullptr) : Json(sight.started_us)},
         {"command", sight.command}});
  }
  return out;
}

std::string EscapeWord(const std::string& text) {
  std::string out = EscapeControl(text);
  std::ranges::replace(out, ' ', '_');
  return out;
}

std::string Share(std::uint64_t value, std::uint64_t limit) {
  return std::to_string(value) + " of " + std::to_string(limit);
}

std::string StoreText(const StoreSight& store) {
  if (store.error) {
    return Line("DAMAGED", "store " + store.name + ": " + store.error->message) +
           Fix("git maco journal verify store/" + store.name);
  }
  const StoreFill& fill = store.fill;
  std::string out =
      Line(store.nearly_full() ? "FULL" : "store",
           store.name + ": " + Share(fill.rows, fill.limits.rows) + " rows, " +
               Share(fill.active_bytes, fill.limits.journal_bytes) + " bytes of the journal, " +
               Share(fill.retained, fill.limits.retained) + " closed journals");
  if (store.nearly_full()) {
    out += Fix("let go of what is no longer needed, and: git maco journal archive " + store.name);
  }
  return out;
}

Json StoresJson(const std::vector<StoreSight>& stores) {
  Json out = Json::array();
  for (const StoreSight& store : stores) {
    const StoreFill& fill = store.fill;
    out.push_back({{"store", store.name},
                   {"error", store.error ? Json(EscapeControl(store.error->message)) : Json()},
                   {"nearly_full", store.nearly_full()},
                   {"rows", fill.rows},
                   {"rows_limit", fill.limits.rows},
                   {"table_bytes", fill.table_bytes},
                   {"table_bytes_limit", fill.limits.table_bytes},
                   {"journal_bytes", fill.active_bytes},
                   {"journal_bytes_limit", fill.limits.journal_bytes},
                   {"reserved_bytes", fill.reserved_bytes},
                   {"closed_journals", fill.retained},
                   {"closed_journals_limit", fill.limits.retained}});
  }
  return out;
}

StoreLimits LimitsOf(const std::string& store) {
  return store == kLaneStore     ? LaneStoreLimits()
         : store == kEffectStore ? EffectStoreLimits()
                                 : StoreLimits{};
}

std::string LaneText(const LaneSight& lane) {
  const std::string what =
      lane.name + ": " + lane.state + (lane.trouble.empty() ? "" : ", " + lane.trouble);
  return Line(lane.urgent ? "LANE" : "lane", what) + Next(lane.next);
}

Json LanesJson(const std::vector<LaneSight>& lanes) {
  Json out = Json::array();
  for (const LaneSight& lane : lanes) {
    out.push_back({{"lane", lane.name},
                   {"state", lane.state},
                   {"candidate", lane.candidate},
                   {"trouble", EscapeControl(lane.trouble)},
                   {"urgent", lane.urgent},
                   {"next", EscapeControl(lane.next)}});
  }
  return out;
}

void AddPath(const char* name, const std::string& path, Json& out) {
  out[name] = EscapeControl(path);
  if (!IsUtf8(path)) {
    out[std::string(name) + "_base64"] = ToBase64(path);
  }
}

}  // namespace

void Count(RunSight sight, Survey& survey) {
  ++survey.total;
  survey.space.Add(sight);
  RunVerdict verdict = Conclude(sight);
  if (verdict.kind == RunKind::kDamaged) {
    survey.damaged.push_back({std::move(sight), std::move(verdict)});
    return;
  }
  ++survey.by_last_event[sight.last_event.empty() ? "none" : sight.last_event];
  if (verdict.kind == RunKind::kRunning) {
    ++survey.running;
  } else if (verdict.kind == RunKind::kUncertain) {
    survey.uncertain.push_back({std::move(sight), std::move(verdict)});
  }
}

bool StoreSight::nearly_full() const {
  constexpr std::uint64_t kPercent = 90;
  const auto above = [](std::uint64_t value, std::uint64_t limit) {
    return limit != 0 && value * 100 >= limit * kPercent;
  };
  return above(fill.rows, fill.limits.rows) || above(fill.table_bytes, fill.limits.table_bytes) ||
         above(fill.retained, fill.limits.retained);
}

bool Survey::quiet() const {
  return !moved && uncertain.empty() && damaged.empty() && effects.quiet() &&
         std::ranges::none_of(lanes, [](const LaneSight& lane) { return lane.urgent; }) &&
         std::ranges::none_of(stores, [](const StoreSight& store) {
           return store.error.has_value() || store.nearly_full();
         });
}

Result<void> SurveyStores(const StateRoot& state, Survey& survey) {
  StoreList list;
  MACO_ASSIGN(list, ListStores(StoreAccess::Of(state)));
  for (const auto& name : list.names) {
    StoreSight sight;
    sight.name = name;
    if (auto snapshot = ReadStore(StoreAccess::Of(state), name, LimitsOf(name))) {
      sight.fill = snapshot->fill;
      if (name == kEffectStore) {
        survey.effects =
            SurveyEffects(state, EffectTable(std::make_shared<Table>(std::move(snapshot->table))));
      }
    } else if (snapshot.error().code != Code::kNotFound) {  // else its creation was cut short
      sight.error = std::move(snapshot).error();
    }
    survey.stores.push_back(std::move(sight));
  }
  return {};
}

void SurveySpace(const StateRoot& state, Survey& survey) {
  if (survey.space.runs.empty()) {
    return;
  }
  const auto settings = ReadRetentionSettings();
  if (!settings || settings->policy.empty()) {
    return;
  }
  if (const auto needed = NeededRuns(state)) {
    survey.space.Apply(settings->policy, *needed, WallMicros());
  }
}

void SurveyLanes(const StateRoot& state, Survey& survey) {
  const auto table = ReadLanes(state);
  if (!table) {
    return;
  }
  for (const auto& [name, lane] : table->lanes) {
    survey.lanes.push_back(LookAtLane(*table, lane));
  }
}

Result<Survey> SurveyRuns(const StateRoot& state, std::string state_root) {
  Survey survey;
  survey.state_root = std::move(state_root);
  survey.repository_id = state.repository_id();
  survey.moved = state.moved();
  survey.recorded_path = state.identity().place.path;
  const auto runs = state.dir().Open("runs");
  if (!runs) {
    return runs.error().code == Code::kNotFound ? Result<Survey>(std::move(survey))
                                                : Fail(runs.error());
  }
  FileIdentity identity;
  MACO_ASSIGN(identity, runs->Identity());
  MACO_TRY(RequirePrivateDirectory(identity, "maco/runs"));
  std::vector<std::string> names;
  MACO_ASSIGN(names, runs->List(kMaxRuns));
  std::ranges::sort(names);
  for (const std::string& name : names) {
    Count(LookAtRun(state, *runs, name), survey);
  }
  return survey;
}

std::string SurveyText(const Survey& survey) {
  std::string out = Line("repository", survey.repository_id + " in " + survey.state_root);
  if (survey.moved) {
    out += Line("MOVED",
                "moved, copied or restored: the state belongs to '" + survey.recorded_path + "'");
    out += Fix("check that no copy is in use, then: git maco journal rebind");
  }
  out += Line("runs", Counts(survey));
  if (survey.running != 0) {
    out += Line("running", std::to_string(survey.running));
  }
  out += SpaceText(survey.space);
  for (const Attention& attention : survey.uncertain) {
    out += AttentionText("UNCERTAIN", attention);
  }
  for (const Attention& attention : survey.damaged) {
    out += AttentionText("DAMAGED", attention);
  }
  for (const LaneSight& lane : survey.lanes) {
    out += LaneText(lane);
  }
  out += EffectsText(survey.effects);
  for (const StoreSight& store : survey.stores) {
    out += StoreText(store);
  }
  return out;
}

std::string SurveyPorcelain(const Survey& survey) {
  std::string out = "repository " + survey.repository_id + (survey.moved ? " moved\n" : " ok\n");
  out += "runs " + std::to_string(survey.total) + " " + std::to_string(survey.running) + "\n";
  const auto add = [&out](const char* word, const std::vector<Attention>& list) {
    for (const Attention& attention : list) {
      out += std::string("run ") + EscapeWord(attention.sight.id) + " " + word + "\n";
    }
  };
  add("uncertain", survey.uncertain);
  add("damaged", survey.damaged);
  for (const LaneSight& lane : survey.lanes) {
    out += "lane " + lane.name + " " + lane.state + (lane.urgent ? " trouble\n" : " ok\n");
  }
  out += EffectsPorcelain(survey.effects);
  for (const StoreSight& store : survey.stores) {
    const StoreFill& fill = store.fill;
    out += "store " + store.name + " " +
           (store.error           ? "damaged"
            : store.nearly_full() ? "full"
                                  : "ok") +
           " " + std::to_string(fill.rows) + "/" + std::to_string(fill.limits.rows) + " " +
           std::to_string(fill.active_bytes) + "/" + std::to_string(fill.limits.journal_bytes) +
           " " + std::to_string(fill.retained) + "/" + std::to_string(fill.limits.retained) + "\n";
  }
  return out;
}

Result<std::string> SurveyJson(const Survey& survey) {
  Json out = {{"schema", "maco.status/1"},
              {"repository_id", survey.repository_id},
              {"moved", survey.moved}};
  AddPath("state_root", survey.state_root, out);
  AddPath("recorded_path", survey.recorded_path, out);
  Json by_last_event = Json::object();
  for (const auto& [event, word] : kEvents) {
    by_last_event[event] = 0;
  }
  for (const auto& [event, count] : survey.by_last_event) {
    by_last_event[event] = count;
  }
  out["runs"] = {{"total", survey.total},
                 {"running", survey.running},
                 {"by_last_event", by_last_event},
                 {"uncertain", AttentionJson(survey.uncertain)},
                 {"damaged", AttentionJson(survey.damaged)}};
  out["space"] = SpaceJson(survey.space);
  out["lanes"] = LanesJson(survey.lanes);
  out["effects"] = EffectsJson(survey.effects);
  out["stores"] = StoresJson(survey.stores);
  std::string text;
  MACO_ASSIGN(text, Canonicalize(out));
  return text + "\n";
}

}  // namespace maco::status

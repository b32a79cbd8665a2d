// Lines and JSON members; text from outside is escaped.
// Contract: git-maco/doctor/answer.h.
#include "git-maco/doctor/answer.h"

#include <algorithm>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/text.h"

namespace maco::doctor {
namespace {

constexpr std::size_t kStateColumn = 9;
constexpr std::size_t kIdColumn = 20;

std::string StateName(State state) {
  switch (state) {
    case State::kOk:
      return "ok";
    case State::kMissing:
      return "missing";
    case State::kNote:
      break;
  }
  return "note";
}

std::string Padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size() + 1), ' ');
  return text;
}

std::string Line(State state, const std::string& id, const std::string& text) {
  const std::string word = state == State::kMissing ? "MISSING" : StateName(state);
  return Padded(word, kStateColumn) + Padded(id, kIdColumn) + EscapeControl(text) + "\n";
}

std::string Below(const std::string& name, const std::string& text) {
  return std::string(kStateColumn + 2, ' ') + name + ": " + EscapeControl(text) + "\n";
}

std::string CheckText(const Check& check) {
  std::string text = check.observed;
  if (!check.source.empty()) {
    text += " (" + check.source + ")";
  }
  std::string out = Line(check.state, check.id, text);
  if (!check.fix.empty()) {
    out += Below("fix", check.fix);
  }
  return out;
}

std::string ProbeText(const ProbeAnswer& probe) {
  const bool good = probe.verdict == Verdict::kVerified;
  std::string out = Line(good ? State::kOk : State::kMissing, "probe",
                         (good ? "" : VerdictName(probe.verdict) + ": ") + probe.words);
  for (const auto& reason : probe.reasons) {
    out += Below("failed", reason);
  }
  for (const auto& silent : probe.silent) {
    out += Below("accepted and silently not applied", silent.property);
  }
  return out;
}

std::vector<std::string> MissingIds(const Answer& answer) {
  std::vector<std::string> out;
  for (const Check& check : answer.checks) {
    if (check.state == State::kMissing) {
      out.push_back(check.id);
    }
  }
  if (answer.probe.verdict != Verdict::kVerified) {
    out.emplace_back("probe");
  }
  return out;
}

Json CheckJson(const Check& check) {
  return {{"id", check.id},
          {"state", StateName(check.state)},
          {"observed", EscapeControl(check.observed)},
          {"source", EscapeControl(check.source)},
          {"fix", EscapeControl(check.fix)},
          {"scope", check.scope == Scope::kHost ? "host" : "repository"}};
}

Json ProbeJson(const ProbeAnswer& probe) {
  Json silent = Json::array();
  for (const auto& property : probe.silent) {
    silent.push_back(
        {{"property", property.property}, {"observation", EscapeControl(property.observation)}});
  }
  Json reasons = Json::array();
  for (const auto& reason : probe.reasons) {
    reasons.push_back(EscapeControl(reason));
  }
  Json out = {{"verdict", VerdictName(probe.verdict)},
              {"message", EscapeControl(probe.words)},
              {"reasons", reasons},
              {"silent", silent}};
  out["status"] = probe.verdict == Verdict::kNotRun ? Json(nullptr) : Json(probe.exit_status);
  for (const auto& [name, text] :
       {std::pair{"run", &probe.run}, {"kernel", &probe.kernel}, {"systemd", &probe.systemd}}) {
    out[name] = text->empty() ? Json(nullptr) : Json(EscapeControl(*text));
  }
  return out;
}

}  // namespace

bool Qualifies(const Answer& answer) {
  return answer.probe.verdict == Verdict::kVerified &&
         std::ranges::none_of(answer.checks, [](const Check& check) {
           return check.scope == Scope::kHost && check.state == State::kMissing;
         });
}

bool AllGood(const Answer& answer) { return MissingIds(answer).empty(); }

std::string AnswerText(const Answer& answer) {
  std::string out;
  for (const Check& check : answer.checks) {
    out += CheckText(check);
  }
  out += ProbeText(answer.probe);
  const auto missing = MissingIds(answer);
  if (missing.empty()) {
    return out + "verified runs work here\n";
  }
  std::string names;
  for (const auto& id : missing) {
    names += (names.empty() ? "" : ", ") + id;
  }
  return out + "verified runs will be refused here: " + names + "\n";
}

Result<std::string> AnswerJson(const Answer& answer) {
  Json checks = Json::array();
  for (const Check& check : answer.checks) {
    checks.push_back(CheckJson(check));
  }
  std::string text;
  MACO_ASSIGN(text, Canonicalize({{"schema", "maco.doctor/1"},
                                  {"qualifies", Qualifies(answer)},
                                  {"checks", checks},
                                  {"probe", ProbeJson(answer.probe)}}));
  return text + "\n";
}

}  // namespace maco::doctor

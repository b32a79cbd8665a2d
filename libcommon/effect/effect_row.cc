// Members of a row, in one list for both directions.
// Contract: libcommon/effect/effect_row.h.
#include "libcommon/effect/effect_row.h"

#include <array>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/text.h"
#include "libcommon/store/json_members.h"

namespace maco {
namespace {

constexpr std::uint64_t kVersion = 1;
constexpr char kPrefix[] = "effect/";

struct TextField {
  const char* name;
  std::string Effect::*member;
};
constexpr std::array<TextField, 15> kTexts = {{{"subject", &Effect::subject},
                                               {"operation", &Effect::operation},
                                               {"transport", &Effect::transport},
                                               {"repository", &Effect::repository},
                                               {"target", &Effect::target},
                                               {"action", &Effect::action},
                                               {"state", &Effect::state},
                                               {"reason", &Effect::reason},
                                               {"actor_id", &Effect::actor_id},
                                               {"repository_id", &Effect::repository_id},
                                               {"marker", &Effect::marker},
                                               {"content_sha256", &Effect::content_sha256},
                                               {"candidate", &Effect::candidate},
                                               {"note", &Effect::note},
                                               {"id", &Effect::id}}};

struct NumberField {
  const char* name;
  std::uint64_t Effect::*member;
};
constexpr std::array<NumberField, 7> kNumbers = {{{"attempts", &Effect::attempts},
                                                  {"planned_us", &Effect::planned_us},
                                                  {"started_us", &Effect::started_us},
                                                  {"observed_us", &Effect::observed_us},
                                                  {"completed_us", &Effect::completed_us},
                                                  {"since_us", &Effect::since_us},
                                                  {"not_before_us", &Effect::not_before_us}}};

Error Wrong(const std::string& key, const char* name) {
  return MakeError(Code::kCorrupt,
                   "row '" + EscapeControl(key) + "' of store 'effects' has no proper '" +
                       std::string(name) + "'",
                   "git maco journal verify store/effects");
}

Result<Receipt> DecodeReceipt(const std::string& key, const Json& row) {
  const Json* member = Member(row, "receipt");
  if (member == nullptr || !member->is_object()) {
    return Fail(Wrong(key, "receipt"));
  }
  const std::string* id = TextMember(*member, "id");
  const std::string* url = TextMember(*member, "url");
  const auto number = UintMember(*member, "number");
  if (id == nullptr || url == nullptr || !number) {
    return Fail(Wrong(key, "receipt"));
  }
  return Receipt{*id, *url, *number};
}

std::size_t BytesOf(const Json& row) {
  const auto text = Canonicalize(row);
  return text ? text->size() : 0;  // one without a canonical form is refused by the store
}

Json WithoutEvidence(const Effect& effect) {
  Json row = Encode(effect);
  row.erase("evidence");
  return row;
}

// What later steps may add to a row: times and numbers of the forge, a short reason and note.
constexpr std::size_t kGrowth = 640;

}  // namespace

std::string EffectKey(std::string_view id) { return kPrefix + std::string(id); }

std::string EffectRequestKey(std::string_view id) { return "request/" + std::string(id); }

std::string EffectEvidenceKey(std::string_view id) { return "evidence/" + std::string(id); }

// A member that says nothing is left out: rows are many, and are read whenever the store is opened.
Json Encode(const Effect& effect) {
  Json row = {{"v", kVersion}};
  for (const auto& field : kTexts) {
    if (!(effect.*field.member).empty()) {
      row[field.name] = effect.*field.member;
    }
  }
  for (const auto& field : kNumbers) {
    if (effect.*field.member != 0) {
      row[field.name] = effect.*field.member;
    }
  }
  if (effect.receipt != Receipt()) {
    row["receipt"] = {
        {"id", effect.receipt.id}, {"url", effect.receipt.url}, {"number", effect.receipt.number}};
  }
  if (!effect.evidence.empty()) {
    row["evidence"] = effect.evidence;
  }
  return row;
}

Result<Json> EncodeFirstRow(const Effect& effect, std::size_t bytes) {
  Json row = WithoutEvidence(effect);
  // A receipt repeats the target.
  if (BytesOf(row) + BytesOf(effect.target) + kGrowth > bytes) {
    return Fail(Code::kLimit, "the names of repository, target and action are too long together",
                "use shorter ones");
  }
  return row;
}

Result<Json> EncodeLaterRow(Effect effect, std::size_t bytes) {
  constexpr std::size_t kLeast = 16;
  Json row = WithoutEvidence(effect);
  if (BytesOf(row) > bytes) {
    effect.receipt.url.clear();
    row = WithoutEvidence(effect);
  }
  for (auto* text : {&effect.reason, &effect.note}) {
    while (BytesOf(row) > bytes && text->size() > kLeast) {
      *text = Shorten(*text, text->size() / 2);
      row = WithoutEvidence(effect);
    }
  }
  if (BytesOf(row) > bytes) {
    return Fail(Code::kLimit, "what is known of effect " + effect.id + " does not fit its row",
                "'git maco effect show " + effect.id + "' has what is on record");
  }
  return row;
}

Json EncodeEvidence(const std::vector<std::string>& evidence) {
  return {{"v", kVersion}, {"evidence", evidence}};
}

Result<std::vector<std::string>> DecodeEvidence(const std::string& key, const Json& row) {
  const Json* list = Member(row, "evidence");
  if (list == nullptr || !list->is_array()) {
    return Fail(Wrong(key, "evidence"));
  }
  std::vector<std::string> out;
  for (const auto& item : *list) {
    const auto* text = item.get_ptr<const std::string*>();
    if (text == nullptr) {
      return Fail(Wrong(key, "evidence"));
    }
    out.push_back(*text);
  }
  return out;
}

Result<Effect> DecodeEffect(const std::string& key, const Json& row) {
  const auto version = UintMember(row, "v");
  if (!version) {
    return Fail(Wrong(key, "v"));
  }
  if (*version > kVersion) {
    return Fail(Code::kUnsupported, "row '" + key + "' was written by a newer git-maco",
                "upgrade git-maco");
  }
  Effect effect;
  for (const auto& field : kTexts) {
    if (Member(row, field.name) == nullptr) {
      continue;
    }
    const std::string* text = TextMember(row, field.name);
    if (text == nullptr) {
      return Fail(Wrong(key, field.name));
    }
    effect.*field.member = *text;
  }
  for (const auto& field : kNumbers) {
    if (Member(row, field.name) == nullptr) {
      continue;
    }
    const auto number = UintMember(row, field.name);
    if (!number) {
      return Fail(Wrong(key, field.name));
    }
    effect.*field.member = *number;
  }
  if (Member(row, "receipt") != nullptr) {
    MACO_ASSIGN(effect.receipt, DecodeReceipt(key, row));
  }
  if (Member(row, "evidence") != nullptr) {
    MACO_ASSIGN(effect.evidence, DecodeEvidence(key, row));
  }
  if (EffectKey(effect.id) != key || effect.state.empty() || effect.operation.empty()) {
    return Fail(Wrong(key, effect.state.empty() ? "state" : "id"));
  }
  return effect;
}

}  // namespace maco

// One log for each archive, named by a row of the store with its last MAC.
// Contract: maco-effect/archive_segment.h.
#include "maco-effect/archive_segment.h"

#include <algorithm>
#include <cstdio>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/clock.h"
#include "libcommon/base/text.h"
#include "libcommon/state/journals.h"
#include "libcommon/store/json_members.h"
#include "maco-effect/hold.h"

namespace maco::effect {
namespace {

constexpr std::size_t kMaxRecord = 65'536;
constexpr std::size_t kDigits = 6;
constexpr char kArchiveLock[] = "archive";  // no id of an effect: those are hex digits

std::string FileName(const std::string& number) { return "archive-" + number + ".log"; }
std::string ObjectId(const std::string& number) { return "effects/archive/" + number; }

std::string Number(std::uint64_t value) {
  std::string digits = std::to_string(value);
  return digits.size() < kDigits ? std::string(kDigits - digits.size(), '0') + digits : digits;
}

Error Damaged(const std::string& number, const std::string& what) {
  return MakeError(Code::kCorrupt, "archive " + number + " of effects " + what,
                   "restore 'maco' in the Git directory from a backup");
}

// One that no row has, so that its file means nothing yet.
Result<std::string> NextNumber(const EffectTable& table) {
  const auto archives = table.Archives();
  std::uint64_t last = 0;
  for (const auto& [name, row] : archives) {
    const auto value = ParseUint(name);
    if (!value) {
      return Fail(Damaged(name, "has no number"));
    }
    last = std::max(last, *value);
  }
  std::string number = Number(last + 1);
  if (number.size() > kDigits) {
    return Fail(Code::kLimit, "there are too many archives of effects");
  }
  return number;
}

Result<Mac> WriteLog(const StateRoot& state, const std::string& number,
                     const std::vector<Effect>& effects) {
  Directory directory;
  MACO_ASSIGN(directory, OpenEffectDirectory(state));
  const auto old = directory.Unlink(FileName(number));
  if (!old && old.error().code != Code::kNotFound) {
    return Fail(old.error());
  }
  auto log = LogWriter::Create(directory, FileName(number), state.key(),
                               {state.repository_id(), ObjectId(number), state.epoch()});
  if (!log) {
    return Fail(std::move(log).error());
  }
  std::vector<std::string> texts;
  std::vector<std::span<const std::uint8_t>> group;
  for (const auto& effect : effects) {
    std::string text;
    MACO_ASSIGN(text, Canonicalize(Encode(effect)));
    texts.push_back(std::move(text));
  }
  for (const auto& text : texts) {
    group.push_back(AsBytes(text));
    constexpr std::size_t kGroup = 64;
    if (group.size() == kGroup || &text == &texts.back()) {
      MACO_TRY(log->AppendGroup(group, Durability::kRecordAndHead));
      group.clear();
    }
  }
  const Mac mac = log->last_mac();
  MACO_TRY(log->Close());
  return mac;
}

}  // namespace

Result<Archived> ArchiveEffects(const StateRoot& state, const ArchiveChoice& choose) {
  // Before the look at the rows: another one that archives would take the same number, and remove
  // the file that this one wrote.
  const auto hold = Hold::Take(state, kArchiveLock, LogLock::kWait);
  if (!hold) {
    return Fail(hold.error());
  }
  EffectTable table;
  MACO_ASSIGN(table, ReadEffects(state));
  Archived out;
  out.effects = choose(table);
  if (out.effects.empty()) {
    return out;
  }
  MACO_ASSIGN(out.number, NextNumber(table));
  Mac mac{};
  MACO_ASSIGN(mac, WriteLog(state, out.number, out.effects));
  MACO_TRY(MoveToArchive(state, out.effects, out.number,
                         {{"v", 1},
                          {"effects", out.effects.size()},
                          {"archived_us", WallMicros()},
                          {"mac", ToHex(mac)}}));
  return out;
}

Result<std::vector<Effect>> ReadArchive(const StateRoot& state, const std::string& number,
                                        const Json& row) {
  const auto count = UintMember(row, "effects");
  const auto mac = HexMember<std::tuple_size_v<Mac>>(row, "mac");
  if (!count || !mac) {
    return Fail(Damaged(number, "has no proper row"));
  }
  Directory directory;
  MACO_ASSIGN(directory, OpenEffectDirectory(state));
  auto file = OpenLogFile(directory, FileName(number));
  if (!file) {
    return Fail(file.error().code == Code::kNotFound ? Damaged(number, "is missing")
                                                     : file.error());
  }
  auto reader = ReaderOf(state, *std::move(file), ObjectId(number));
  if (!reader) {
    return Fail(std::move(reader).error());
  }
  if (!SameMac(reader->last_mac(), *mac)) {
    return Fail(Damaged(number, "is not the one that was written"));
  }
  std::vector<Effect> out;
  for (;;) {
    std::optional<LogEntry> entry;
    MACO_ASSIGN(entry, reader->Next());
    if (!entry) {
      break;
    }
    Json document;
    MACO_ASSIGN(document, ParseJson(AsText(entry->payload), kMaxRecord));
    const std::string* id = document.is_object() ? TextMember(document, "id") : nullptr;
    Effect effect;
    MACO_ASSIGN(effect, DecodeEffect(EffectKey(id != nullptr ? *id : ""), document));
    out.push_back(std::move(effect));
  }
  if (out.size() != *count) {
    return Fail(Damaged(number, "has not the effects that were put into it"));
  }
  return out;
}

Result<std::optional<Effect>> FindArchived(const StateRoot& state, const EffectTable& table,
                                           const std::function<bool(const Effect&)>& wanted) {
  for (const auto& [number, row] : table.Archives()) {
    std::vector<Effect> effects;
    MACO_ASSIGN(effects, ReadArchive(state, number, row));
    for (auto& effect : effects) {
      if (wanted(effect)) {
        return std::optional<Effect>(std::move(effect));
      }
    }
  }
  return std::optional<Effect>();
}

Result<std::optional<Effect>> ChooseArchived(const StateRoot& state, const EffectTable& table,
                                             const std::string& text) {
  std::optional<Effect> out;
  bool several = false;
  MACO_TRY(FindArchived(state, table, [&](const Effect& effect) {
    if (effect.id.starts_with(text)) {
      several = several || (out && out->id != effect.id);
      out = effect;
    }
    return several;
  }));
  if (several) {
    return Fail(Code::kInvalid, "several archived effects begin with '" + text + "'",
                "give more digits");
  }
  return out;
}

}  // namespace maco::effect

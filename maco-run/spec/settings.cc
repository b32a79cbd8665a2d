// Scopes in order of trust, each value checked where it stands.
// Contract: maco-run/spec/settings.h.
#include "maco-run/spec/settings.h"

#include <algorithm>
#include <string_view>

namespace maco::run {
namespace {

constexpr std::string_view kPrefix = "maco.run.";

const LimitInfo* FindSetting(std::string_view key) {
  for (const auto& info : AllLimits()) {
    if (key.starts_with(kPrefix) && key.substr(kPrefix.size()) == info.setting) {
      return &info;
    }
  }
  return nullptr;
}

std::string Source(const ConfigValue& setting) {
  return setting.key + " (" + setting.scope + " configuration)";
}

Result<void> TakeScopes(const std::vector<ConfigValue>& settings, bool of_operator,
                        ChosenLimits& chosen) {
  for (const auto& setting : settings) {
    const LimitInfo* info = FindSetting(setting.key);
    if (info == nullptr || setting.IsProtected() != of_operator) {
      continue;
    }
    std::uint64_t value = 0;
    MACO_ASSIGN(value, ParseLimit(*info, setting.value, Source(setting)));
    std::uint64_t& limit = chosen.limits.*info->field;
    if (of_operator) {
      limit = value;
    } else if (value > limit) {
      chosen.notes.push_back(Source(setting) + " is not heeded: a repository may only lower " +
                             std::to_string(limit) + "; --" + info->option +
                             " or 'git config --global' raises it");
    } else {
      limit = value;
    }
  }
  return {};
}

}  // namespace

Result<ChosenLimits> ChooseLimits(const std::vector<ConfigValue>& settings,
                                  const LimitFlags& flags) {
  ChosenLimits chosen;
  MACO_TRY(TakeScopes(settings, true, chosen));
  MACO_TRY(TakeScopes(settings, false, chosen));
  for (const auto& info : AllLimits()) {
    if (const auto flag = flags.find(info.option); flag != flags.end()) {
      chosen.limits.*info.field = flag->second;
    }
  }
  for (const auto& setting : settings) {
    if (FindSetting(setting.key) == nullptr) {
      chosen.notes.push_back(Source(setting) + " is no setting of maco-run, and is not heeded");
    }
  }
  return chosen;
}

}  // namespace maco::run

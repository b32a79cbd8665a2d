// Settings one by one.
// Contract: libcommon/state/retention_settings.h.
#include "libcommon/state/retention_settings.h"

#include <algorithm>
#include <array>

#include "libcommon/base/text.h"
#include "libcommon/cli/duration.h"
#include "libcommon/git/config.h"

namespace maco {
namespace {

constexpr char kPrefix[] = "maco.prune.";

struct Word {
  const char* word;
  const char* outcome;
};
constexpr std::array<Word, 4> kWords = {{{"completed", "command_completed"},
                                         {"unproven", "command_unproven"},
                                         {"refused", "run_refused"},
                                         {"abandoned", "abandoned"}}};

Error BadValue(const std::string& name, const std::string& value) {
  return MakeError(Code::kInvalid, kPrefix + name + " is '" + EscapeControl(value) + "'",
                   "see git-maco-prune(1), CONFIGURATION");
}

Result<void> Take(const std::string& name, const std::string& value, RetentionSettings& out) {
  RetentionPolicy& policy = out.policy;
  const auto set = [&](std::optional<std::uint64_t>& member,
                       std::optional<std::uint64_t> number) -> Result<void> {
    member = number;
    return number ? Result<void>() : Fail(BadValue(name, value));
  };
  if (name == "keep") {
    return set(policy.keep, ParseUint(value));
  }
  if (name == "keepdaily") {
    return set(policy.keep_daily, ParseUint(value));
  }
  if (name == "keepweekly") {
    return set(policy.keep_weekly, ParseUint(value));
  }
  if (name == "maxage") {
    return set(policy.max_age_seconds, ParseDuration(value));
  }
  if (name == "maxbytes") {
    return set(policy.max_bytes, ParseSize(value));
  }
  if (name == "state") {
    MACO_ASSIGN(policy.outcomes, ParseOutcomes(value));
    return {};
  }
  out.notes.push_back("unknown setting " + (kPrefix + EscapeControl(name)));
  return {};
}

}  // namespace

Result<std::vector<std::string>> ParseOutcomes(const std::string& text) {
  std::vector<std::string> out;
  for (const auto part : Split(text, ',')) {
    const auto* known = std::ranges::find_if(kWords, [&](const Word& w) { return part == w.word; });
    if (known == kWords.end()) {
      return Fail(Code::kInvalid, "'" + EscapeControl(part) + "' is no state of a finished run",
                  "completed, unproven, refused, abandoned; several with commas");
    }
    out.emplace_back(known->outcome);
  }
  return out;
}

Result<RetentionSettings> ReadRetentionSettings() {
  RetentionSettings out;
  std::vector<ConfigValue> values;
  MACO_ASSIGN(values, ReadConfig(kPrefix));
  for (const auto& value : values) {
    if (value.IsProtected()) {
      MACO_TRY(Take(value.key.substr(std::string_view(kPrefix).size()), value.value, out));
    } else {
      out.notes.push_back(EscapeControl(value.key) +
                          " of the repository's own settings does not count; use 'git config "
                          "--global'");
    }
  }
  return out;
}

}  // namespace maco

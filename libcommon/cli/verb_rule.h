// "TOOL VERB [OPTION]... [NAME]...": which options and how many names each verb takes.
// Errors: kUsage.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "libcommon/base/text.h"
#include "libcommon/cli/words.h"

namespace maco {

inline constexpr std::size_t kManyNames = 100'000;

template <typename Verb>
struct VerbRule {
  const char* name;
  Verb verb;
  std::size_t min_names;
  std::size_t max_names;
  std::vector<std::string_view> options;
};

template <typename Verb>
struct VerbWords {
  const VerbRule<Verb>* rule = nullptr;  // null: help was asked for
  Words words;
};

// argv[1] is the verb, or "-h".
template <typename Verb>
Result<VerbWords<Verb>> ReadVerb(const std::string& tool, const std::vector<VerbRule<Verb>>& rules,
                                 std::span<const OptionRule> table, int argc,
                                 const char* const* argv) {
  VerbWords<Verb> out;
  const std::string word = argc > 1 ? argv[1] : "";
  if (word == "-h" || word == "--help") {
    return out;
  }
  const auto rule = std::ranges::find(rules, std::string_view(word), &VerbRule<Verb>::name);
  if (rule == rules.end()) {
    return Fail(Misused(
        tool, word.empty() ? "no command given" : "unknown command '" + EscapeControl(word) + "'"));
  }
  MACO_ASSIGN(out.words, ReadWords(tool, table, argc - 1, argv + 1));
  for (const auto& given : out.words.options()) {
    const bool allowed = std::ranges::find(rule->options, given.first) != rule->options.end();
    if (!allowed && given.first != "help") {
      return Fail(Misused(tool, "'" + word + "' takes no --" + given.first));
    }
  }
  if (out.words.Has("help")) {
    return out;
  }
  const std::size_t names = out.words.names().size();
  if (names < rule->min_names || names > rule->max_names) {
    return Fail(Misused(tool, "wrong number of arguments for '" + word + "'"));
  }
  out.rule = &*rule;
  return out;
}

}  // namespace maco

// cxxopts, told to leave what it does not know, so that it is named in our own words.
// Contract: libcommon/cli/words.h.
#include "libcommon/cli/words.h"

#include <algorithm>
#include <cxxopts.hpp>

#include "libcommon/base/text.h"

namespace maco {
namespace {

std::string_view LongName(const OptionRule& rule) {
  const std::string_view names = rule.names;
  return names.substr(names.find(',') + 1);
}

cxxopts::Options TableOf(const std::string& tool, std::span<const OptionRule> rules) {
  cxxopts::Options out(tool);
  out.add_options()("h,help", "");
  for (const auto& rule : rules) {
    if (rule.takes == Takes::kNothing) {
      out.add_options()(rule.names, "");
    } else {
      out.add_options()(rule.names, "", cxxopts::value<std::string>());
    }
  }
  out.allow_unrecognised_options();
  return out;
}

Result<void> CheckValue(const std::string& tool, std::span<const OptionRule> rules,
                        const std::string& name, const std::string& value) {
  const auto rule = std::ranges::find(rules, name, LongName);
  const Takes takes = rule == rules.end() ? Takes::kNothing : rule->takes;
  if (takes == Takes::kText && value.empty()) {
    return Fail(Misused(tool, "--" + name + " is empty"));
  }
  if (takes == Takes::kNothing && value != "true") {  // what cxxopts has for one without a value
    return Fail(Misused(tool, "--" + name + " takes no value"));
  }
  return {};
}

const OptionRule* ShortRule(std::span<const OptionRule> rules, char letter) {
  const auto rule = std::ranges::find_if(rules, [letter](const OptionRule& each) {
    const std::string_view names = each.names;
    return names.front() == letter && (names.size() == 1 || names[1] == ',');
  });
  return rule == rules.end() ? nullptr : &*rule;
}

// "-nmTEXT" as "-nm", "TEXT": cxxopts without regular expressions takes such a text only if it has
// nothing but letters and digits.
std::vector<std::string> Separated(std::span<const OptionRule> rules,
                                   std::span<const char* const> words) {
  std::vector<std::string> out;
  bool is_value = false;  // of the option before it, whatever it looks like
  for (const std::string word : words) {
    out.push_back(word);
    if (std::exchange(is_value, false)) {
      continue;
    }
    if (word.starts_with("--")) {
      const auto rule = std::ranges::find(rules, std::string_view(word).substr(2), LongName);
      is_value = rule != rules.end() && rule->takes != Takes::kNothing;
      continue;
    }
    for (std::size_t i = 1; word.starts_with('-') && i < word.size(); ++i) {
      const OptionRule* rule = ShortRule(rules, word[i]);
      if (rule == nullptr) {
        break;
      }
      if (rule->takes != Takes::kNothing) {
        is_value = i + 1 == word.size();
        if (!is_value) {
          out.back().resize(i + 1);
          out.push_back(word.substr(i + 1));
        }
        break;
      }
    }
  }
  return out;
}

}  // namespace

bool Words::Has(std::string_view option) const {
  return std::ranges::any_of(options_, [&](const auto& given) { return given.first == option; });
}

std::string Words::Text(std::string_view option) const {
  auto all = Texts(option);
  return all.empty() ? std::string() : std::move(all.back());
}

// Each by itself: a list of cxxopts would be split at commas.
std::vector<std::string> Words::Texts(std::string_view option) const {
  std::vector<std::string> out;
  for (const auto& given : options_) {
    if (given.first == option) {
      out.push_back(given.second);
    }
  }
  return out;
}

Result<Words> ReadWords(const std::string& tool, std::span<const OptionRule> table, int argc,
                        const char* const* argv) {
  // What stands behind "--" is never an option.
  int end = 1;
  while (end < argc && std::string_view(argv[end]) != "--") {
    ++end;
  }
  const auto separated = Separated(table, {argv, static_cast<std::size_t>(std::min(end, argc))});
  std::vector<const char*> words;
  for (const std::string& word : separated) {
    words.push_back(word.c_str());
  }
  Words out;
  try {
    cxxopts::Options options = TableOf(tool, table);
    const auto parsed = options.parse(static_cast<int>(words.size()), words.data());
    for (const auto& argument : parsed.arguments()) {
      MACO_TRY(CheckValue(tool, table, argument.key(), argument.value()));
      out.options_.emplace_back(argument.key(), argument.value());
    }
    out.names_ = parsed.unmatched();
  } catch (const cxxopts::exceptions::exception& error) {
    return Fail(Misused(tool, error.what()));
  }
  for (const auto& name : out.names_) {
    if (name.size() > 1 && name[0] == '-') {
      return Fail(Misused(tool, "unknown option '" + EscapeControl(name) + "'"));
    }
  }
  if (out.Has("json") && out.Has("z")) {
    return Fail(Misused(tool, "--json and -z exclude each other"));
  }
  out.names_.insert(out.names_.end(), argv + std::min(end + 1, argc), argv + argc);
  return out;
}

Error Misused(const std::string& tool, std::string what) {
  return MakeError(Code::kUsage, std::move(what), "see '" + tool + " -h'");
}

}  // namespace maco

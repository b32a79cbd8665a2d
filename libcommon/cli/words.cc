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
  Words out;
  try {
    cxxopts::Options options = TableOf(tool, table);
    const auto parsed = options.parse(std::min(end, argc), argv);
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

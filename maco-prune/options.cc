// Options of pruning, and the three verbs about the quarantine.
// Contract: maco-prune/options.h.
#include "maco-prune/options.h"

#include <algorithm>
#include <cxxopts.hpp>
#include <optional>

#include "libcommon/base/text.h"
#include "libcommon/cli/duration.h"
#include "libcommon/state/retention_settings.h"

namespace maco::prune {
namespace {

constexpr char kSeeHelp[] = "see 'git maco prune -h'";

cxxopts::Options Table() {
  cxxopts::Options table("maco-prune");
  const auto text = [] { return cxxopts::value<std::string>(); };
  table.add_options()                                                            //
      ("h,help", "")("json", "")("z", "")("n,dry-run", "")                       //
      ("keep", "", text())("keep-daily", "", text())("keep-weekly", "", text())  //
      ("max-age", "", text())("max-bytes", "", text())("state", "", text());
  return table;
}

Result<Verb> VerbOf(std::vector<std::string>& names) {
  if (names.empty()) {
    return Verb::kPrune;
  }
  const std::string word = names.front();
  names.erase(names.begin());
  const Verb verb = word == "inspect"   ? Verb::kInspect
                    : word == "restore" ? Verb::kRestore
                    : word == "discard" ? Verb::kDiscard
                                        : Verb::kHelp;
  if (verb == Verb::kHelp) {
    return Fail(Code::kUsage, "unknown command '" + EscapeControl(word) + "'", kSeeHelp);
  }
  if (verb != Verb::kInspect && names.empty()) {
    return Fail(Code::kUsage, word + " needs the name of an entry", "git maco prune inspect");
  }
  return verb;
}

Result<void> TakeCount(const cxxopts::ParseResult& parsed, const char* name,
                       std::optional<std::uint64_t>& out) {
  if (parsed.count(name) != 0) {
    out = ParseUint(parsed[name].as<std::string>());
    if (!out) {
      return Fail(Code::kUsage, std::string("--") + name + " is a number");
    }
  }
  return {};
}

Result<RetentionPolicy> PolicyOf(const cxxopts::ParseResult& parsed) {
  RetentionPolicy out;
  MACO_TRY(TakeCount(parsed, "keep", out.keep));
  MACO_TRY(TakeCount(parsed, "keep-daily", out.keep_daily));
  MACO_TRY(TakeCount(parsed, "keep-weekly", out.keep_weekly));
  if (parsed.count("max-age") != 0) {
    out.max_age_seconds = ParseDuration(parsed["max-age"].as<std::string>());
    if (!out.max_age_seconds) {
      return Fail(Code::kUsage, "--max-age is a time as 90, 45m, 12h, 14d or 8w");
    }
  }
  if (parsed.count("max-bytes") != 0) {
    out.max_bytes = ParseSize(parsed["max-bytes"].as<std::string>());
    if (!out.max_bytes) {
      return Fail(Code::kUsage, "--max-bytes is a size as 1000000, 500m or 2g");
    }
  }
  if (parsed.count("state") != 0) {
    auto outcomes = ParseOutcomes(parsed["state"].as<std::string>());
    if (!outcomes) {
      return Fail(Code::kUsage, "--state: " + outcomes.error().message, outcomes.error().remedy);
    }
    out.outcomes = *std::move(outcomes);
  }
  return out;
}

Result<Options> Take(const cxxopts::ParseResult& parsed) {
  Options options;
  if (parsed.count("help") != 0) {
    return options;
  }
  options.names = parsed.unmatched();
  for (const auto& name : options.names) {
    if (name.size() > 1 && name[0] == '-') {
      return Fail(Code::kUsage, "unknown option '" + EscapeControl(name) + "'", kSeeHelp);
    }
  }
  MACO_ASSIGN(options.verb, VerbOf(options.names));
  MACO_ASSIGN(options.policy, PolicyOf(parsed));
  options.dry_run = parsed.count("dry-run") != 0;
  options.json = parsed.count("json") != 0;
  options.nul = parsed.count("z") != 0;
  if (options.json && options.nul) {
    return Fail(Code::kUsage, "--json and -z exclude each other");
  }
  const bool has_policy = !options.policy.empty() || !options.policy.outcomes.empty();
  if (options.verb != Verb::kPrune && (has_policy || options.nul)) {
    return Fail(Code::kUsage, "that option is for pruning alone", kSeeHelp);
  }
  return options;
}

}  // namespace

Result<Options> ParseOptions(int argc, const char* const* argv) {
  try {
    cxxopts::Options table = Table();
    table.allow_unrecognised_options();  // to name them with our own words
    return Take(table.parse(argc, argv));
  } catch (const cxxopts::exceptions::exception& error) {
    return Fail(Code::kUsage, error.what(), kSeeHelp);
  }
}

std::string Usage() {
  return "usage: git maco prune [--keep N] [--keep-daily N] [--keep-weekly N] [--max-age TIME]\n"
         "                      [--max-bytes SIZE] [--state WORD[,WORD]...] [-n] [--json | -z]\n"
         "       git maco prune inspect [--json] [NAME]...\n"
         "       git maco prune restore [-n] NAME...\n"
         "       git maco prune discard [-n] NAME...\n";
}

}  // namespace maco::prune

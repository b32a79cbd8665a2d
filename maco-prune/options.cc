// Options of pruning, and the three verbs about the quarantine.
// Contract: maco-prune/options.h.
#include "maco-prune/options.h"

#include <optional>

#include "libcommon/base/text.h"
#include "libcommon/cli/duration.h"
#include "libcommon/cli/words.h"
#include "libcommon/state/retention_settings.h"

namespace maco::prune {
namespace {

constexpr char kProgram[] = "git maco prune";
constexpr char kSeeHelp[] = "see 'git maco prune -h'";

constexpr OptionRule kTable[] = {
    {"json"},
    {"z"},
    {"n,dry-run"},
    {"keep", Takes::kText},
    {"keep-daily", Takes::kText},
    {"keep-weekly", Takes::kText},
    {"max-age", Takes::kText},
    {"max-bytes", Takes::kText},
    {"state", Takes::kText},
};

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

Result<void> TakeCount(const Words& words, const char* name, std::optional<std::uint64_t>& out) {
  if (words.Has(name)) {
    out = ParseUint(words.Text(name));
    if (!out) {
      return Fail(Code::kUsage, std::string("--") + name + " is a number");
    }
  }
  return {};
}

Result<RetentionPolicy> PolicyOf(const Words& words) {
  RetentionPolicy out;
  MACO_TRY(TakeCount(words, "keep", out.keep));
  MACO_TRY(TakeCount(words, "keep-daily", out.keep_daily));
  MACO_TRY(TakeCount(words, "keep-weekly", out.keep_weekly));
  if (words.Has("max-age")) {
    out.max_age_seconds = ParseDuration(words.Text("max-age"));
    if (!out.max_age_seconds) {
      return Fail(Code::kUsage, "--max-age is a time as 90, 45m, 12h, 14d or 8w");
    }
  }
  if (words.Has("max-bytes")) {
    out.max_bytes = ParseSize(words.Text("max-bytes"));
    if (!out.max_bytes) {
      return Fail(Code::kUsage, "--max-bytes is a size as 1000000, 500m or 2g");
    }
  }
  if (words.Has("state")) {
    auto outcomes = ParseOutcomes(words.Text("state"));
    if (!outcomes) {
      return Fail(Code::kUsage, "--state: " + outcomes.error().message, outcomes.error().remedy);
    }
    out.outcomes = *std::move(outcomes);
  }
  return out;
}

}  // namespace

Result<Options> ParseOptions(int argc, const char* const* argv) {
  Words words;
  MACO_ASSIGN(words, ReadWords(kProgram, kTable, argc, argv));
  Options options;
  if (words.Has("help")) {
    return options;
  }
  options.names = words.names();
  MACO_ASSIGN(options.verb, VerbOf(options.names));
  MACO_ASSIGN(options.policy, PolicyOf(words));
  options.dry_run = words.Has("dry-run");
  options.json = words.Has("json");
  options.nul = words.Has("z");
  const bool has_policy = !options.policy.empty() || !options.policy.outcomes.empty();
  if (options.verb != Verb::kPrune && (has_policy || options.nul)) {
    return Fail(Code::kUsage, "that option is for pruning alone", kSeeHelp);
  }
  if (options.json && (options.verb == Verb::kRestore || options.verb == Verb::kDiscard)) {
    return Fail(Code::kUsage, "restore and discard have no --json", kSeeHelp);
  }
  return options;
}

std::string Usage() {
  return "usage: git maco prune [--keep N] [--keep-daily N] [--keep-weekly N] [--max-age TIME]\n"
         "                      [--max-bytes SIZE] [--state WORD[,WORD]...] [-n] [--json | -z]\n"
         "       git maco prune inspect [--json] [NAME]...\n"
         "       git maco prune restore [-n] NAME...\n"
         "       git maco prune discard [-n] NAME...\n";
}

}  // namespace maco::prune

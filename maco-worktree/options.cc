// One table of options, and which of them each verb takes.
// Contract: maco-worktree/options.h.
#include "maco-worktree/options.h"

#include <algorithm>
#include <cxxopts.hpp>

#include "libcommon/base/text.h"

namespace maco::worktree {
namespace {

struct VerbRule {
  const char* name;
  Verb verb;
  std::size_t min_names;
  std::size_t max_names;
  std::vector<std::string_view> options;
};

constexpr std::size_t kMany = 10'000;
constexpr std::uint64_t kDay = 86'400;
constexpr std::uint64_t kDefaultMaxAge = 14 * kDay;
constexpr char kSeeHelp[] = "see 'git maco worktree -h'";

const std::vector<VerbRule>& Rules() {
  static const std::vector<VerbRule> kRules = {
      {"create", Verb::kCreate, 1, 1, {"base", "claim", "private", "include", "dry-run", "json"}},
      {"list", Verb::kList, 0, 0, {"json", "z"}},
      {"claim", Verb::kClaim, 2, kMany, {"expires", "take-over", "dry-run"}},
      {"release", Verb::kRelease, 1, kMany, {"dry-run"}},
      {"owner", Verb::kOwner, 0, kMany, {"json", "z", "staged"}},
      {"intent", Verb::kIntent, 1, kMany, {"kind", "reason", "json"}},
      {"capture", Verb::kCapture, 1, 1, {"rehash", "json", "dry-run"}},
      {"show", Verb::kShow, 1, 1, {"stat", "json"}},
      {"accept", Verb::kAccept, 1, 1, {"note", "unverified", "dry-run"}},
      {"reject", Verb::kReject, 1, 1, {"reason", "dry-run"}},
      {"check", Verb::kCheck, 1, 1, {"candidate", "json"}},
      {"apply",
       Verb::kApply,
       1,
       1,
       {"commit", "index", "worktree", "message", "continue", "abort", "unverified", "dry-run",
        "json"}},
      {"remove", Verb::kRemove, 1, 1, {"discard", "dry-run"}},
      {"restore", Verb::kRestore, 1, 1, {"dry-run"}},
      {"gc", Verb::kGc, 0, 0, {"max-age", "dry-run", "json"}},
      {"repair", Verb::kRepair, 0, 1, {"untaint", "dry-run"}},
      {"hook", Verb::kHook, 0, 0, {"dry-run"}},
  };
  return kRules;
}

cxxopts::Options Table() {
  cxxopts::Options table("maco-worktree");
  const auto text = [] { return cxxopts::value<std::string>(); };
  table.add_options()                                                           //
      ("h,help", "")("json", "")("z", "")("n,dry-run", "")("private", "")       //
      ("take-over", "")("staged", "")("rehash", "")("stat", "")("discard", "")  //
      ("commit", "")("index", "")("worktree", "")("continue", "")("abort", "")  //
      ("base", "", text())("claim", "", text())                                 //
      ("include", "", text())("expires", "", text())("reason", "", text())      //
      ("note", "", text())("unverified", "", text())("candidate", "", text())   //
      ("kind", "", text())("untaint", "", text())("m,message", "", text())      //
      ("max-age", "", text());
  return table;
}

// "30", "45m", "12h", "14d".
std::optional<std::uint64_t> ParseSeconds(std::string_view text) {
  std::uint64_t unit = 1;
  if (!text.empty()) {
    switch (text.back()) {
      case 'm':
        unit = 60;
        break;
      case 'h':
        unit = 3600;
        break;
      case 'd':
        unit = kDay;
        break;
      default:
        break;
    }
  }
  constexpr std::uint64_t kMost = 36'500 * kDay;
  const auto number = ParseUint(unit == 1 ? text : text.substr(0, text.size() - 1));
  return number && *number <= kMost / unit ? std::optional(*number * unit) : std::nullopt;
}

Result<void> CheckCombination(const Options& options) {
  if (options.json && options.nul) {
    return Fail(Code::kUsage, "--json and -z exclude each other");
  }
  if (options.verb == Verb::kReject && options.reason.empty()) {
    return Fail(Code::kUsage, "reject needs --reason TEXT");
  }
  if (options.verb == Verb::kIntent && options.names.size() > 1 && options.reason.empty()) {
    return Fail(Code::kUsage, "intent needs --reason TEXT");
  }
  if (options.verb == Verb::kIntent && options.kind != "path" && options.kind != "module" &&
      options.kind != "symbol") {
    return Fail(Code::kUsage, "--kind is path, module or symbol");
  }
  if (options.verb == Verb::kOwner && options.staged != options.names.empty()) {
    return Fail(Code::kUsage, "owner needs paths, or --staged");
  }
  if (options.verb == Verb::kApply && options.proceed && options.abort) {
    return Fail(Code::kUsage, "--continue and --abort exclude each other");
  }
  if ((options.proceed || options.abort) &&
      (!options.mode.empty() || !options.unverified.empty())) {
    return Fail(Code::kUsage, "--continue and --abort take what the apply was begun with");
  }
  if (!options.message.empty() && options.mode != "commit") {
    return Fail(Code::kUsage, "--message is for --commit");
  }
  return {};
}

Result<void> TakeSeconds(const std::string& text, const char* name, std::uint64_t& out) {
  const auto seconds = ParseSeconds(text);
  if (!seconds || *seconds == 0) {
    return Fail(Code::kUsage, std::string("--") + name + " is a time as 90, 45m, 12h or 14d");
  }
  out = *seconds;
  return {};
}

Result<Options> Take(const cxxopts::ParseResult& parsed, const VerbRule& rule,
                     const std::vector<std::string>& verbatim) {
  Options options;
  options.verb = rule.verb;
  options.names = parsed.unmatched();
  for (const auto& argument : parsed.arguments()) {
    const bool allowed = std::ranges::find(rule.options, argument.key()) != rule.options.end();
    if (!allowed && argument.key() != "help") {
      return Fail(Code::kUsage, "'" + std::string(rule.name) + "' takes no --" + argument.key(),
                  kSeeHelp);
    }
  }
  for (const auto& name : options.names) {
    if (name.size() > 1 && name[0] == '-') {
      return Fail(Code::kUsage, "unknown option '" + EscapeControl(name) + "'", kSeeHelp);
    }
  }
  options.names.insert(options.names.end(), verbatim.begin(), verbatim.end());
  const auto flag = [&parsed](const char* name) { return parsed.count(name) != 0; };
  const auto text = [&parsed](const char* name) {
    return parsed.count(name) != 0 ? parsed[name].as<std::string>() : std::string();
  };
  if (flag("help")) {
    options.verb = Verb::kHelp;
    return options;
  }
  if (options.names.size() < rule.min_names || options.names.size() > rule.max_names) {
    return Fail(Code::kUsage, "wrong number of arguments for '" + std::string(rule.name) + "'",
                kSeeHelp);
  }
  options.json = flag("json");
  options.nul = flag("z");
  options.dry_run = flag("dry-run");
  options.base = text("base");
  // Each by itself: a list of cxxopts would be split at commas.
  for (const auto& argument : parsed.arguments()) {
    if (argument.key() == "claim") {
      options.claims.push_back(argument.value());
    } else if (argument.value().empty() && !argument.key().empty()) {
      return Fail(Code::kUsage, "--" + argument.key() + " is empty", kSeeHelp);
    }
  }
  options.is_private = flag("private");
  options.include = text("include");
  options.take_over = flag("take-over");
  options.staged = flag("staged");
  options.rehash = flag("rehash");
  options.stat = flag("stat");
  options.reason = text("reason");
  options.note = text("note");
  options.unverified = text("unverified");
  options.candidate = text("candidate");
  options.kind = flag("kind") ? text("kind") : "path";
  options.untaint = text("untaint");
  options.message = text("message");
  options.proceed = flag("continue");
  options.abort = flag("abort");
  options.discard = flag("discard");
  for (const char* mode : {"commit", "index", "worktree"}) {
    if (flag(mode)) {
      if (!options.mode.empty()) {
        return Fail(Code::kUsage, "--" + options.mode + " and --" + mode + " exclude each other");
      }
      options.mode = mode;
    }
  }
  if (flag("expires")) {
    MACO_TRY(TakeSeconds(text("expires"), "expires", options.expires_seconds));
  }
  options.max_age_seconds = kDefaultMaxAge;
  if (flag("max-age")) {
    MACO_TRY(TakeSeconds(text("max-age"), "max-age", options.max_age_seconds));
  }
  MACO_TRY(CheckCombination(options));
  return options;
}

}  // namespace

Result<Options> ParseOptions(int argc, const char* const* argv) {
  const std::string_view verb = argc > 1 ? argv[1] : "";
  if (verb == "-h" || verb == "--help") {
    return Options{};
  }
  const auto rule = std::ranges::find(Rules(), verb, &VerbRule::name);
  if (rule == Rules().end()) {
    return Fail(Code::kUsage,
                verb.empty() ? "no command given" : "unknown command '" + EscapeControl(verb) + "'",
                kSeeHelp);
  }
  // What stands behind "--" is never an option.
  int end = 2;
  while (end < argc && std::string_view(argv[end]) != "--") {
    ++end;
  }
  const std::vector<std::string> verbatim(argv + std::min(end + 1, argc), argv + argc);
  try {
    cxxopts::Options table = Table();
    table.allow_unrecognised_options();  // to name them with the verb's own words
    return Take(table.parse(end - 1, argv + 1), *rule, verbatim);
  } catch (const cxxopts::exceptions::exception& error) {
    return Fail(Code::kUsage, error.what(), kSeeHelp);
  }
}

std::string Usage() {
  return "usage: git maco worktree create [--base REV] [--claim PATH]... [--private]\n"
         "                                [--include FILE] [-n] [--json] NAME\n"
         "       git maco worktree list [--json | -z]\n"
         "       git maco worktree claim [--expires TIME] [--take-over] [-n] NAME PATH...\n"
         "       git maco worktree release [-n] NAME [PATH]...\n"
         "       git maco worktree owner [--json | -z] (--staged | PATH...)\n"
         "       git maco worktree intent [--kind path|module|symbol] --reason TEXT NAME WHAT...\n"
         "       git maco worktree capture [--rehash] [-n] [--json] NAME\n"
         "       git maco worktree show [--stat | --json] NAME\n"
         "       git maco worktree accept [--note TEXT] [--unverified NOTE] [-n] NAME\n"
         "       git maco worktree reject --reason TEXT [-n] NAME\n"
         "       git maco worktree check [--candidate ID] [--json] NAME\n"
         "       git maco worktree apply [--commit [-m TEXT] | --index | --worktree]\n"
         "                               [--unverified NOTE] [-n] [--json] NAME\n"
         "       git maco worktree apply (--continue | --abort) NAME\n"
         "       git maco worktree remove [--discard] [-n] NAME\n"
         "       git maco worktree restore [-n] NAME\n"
         "       git maco worktree gc [--max-age TIME] [-n] [--json]\n"
         "       git maco worktree repair [--untaint NOTE] [-n] [NAME]\n"
         "       git maco worktree hook [-n]\n";
}

}  // namespace maco::worktree

// One table of options, and which of them each verb takes.
// Contract: maco-worktree/options.h.
#include "maco-worktree/options.h"

#include "libcommon/cli/duration.h"
#include "libcommon/cli/verb_rule.h"

namespace maco::worktree {
namespace {

constexpr std::uint64_t kDefaultMaxAge = 14 * 86'400;  // seconds
constexpr char kProgram[] = "git maco worktree";

const std::vector<VerbRule<Verb>>& Rules() {
  static const std::vector<VerbRule<Verb>> kRules = {
      {"create", Verb::kCreate, 1, 1, {"base", "claim", "private", "include", "dry-run", "json"}},
      {"list", Verb::kList, 0, 0, {"json", "z"}},
      {"claim", Verb::kClaim, 2, kManyNames, {"expires", "take-over", "dry-run"}},
      {"release", Verb::kRelease, 1, kManyNames, {"dry-run"}},
      {"owner", Verb::kOwner, 0, kManyNames, {"json", "z", "staged"}},
      {"intent", Verb::kIntent, 1, kManyNames, {"kind", "reason", "json"}},
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

constexpr OptionRule kTable[] = {
    {"json"},
    {"z"},
    {"n,dry-run"},
    {"private"},
    {"take-over"},
    {"staged"},
    {"rehash"},
    {"stat"},
    {"discard"},
    {"commit"},
    {"index"},
    {"worktree"},
    {"continue"},
    {"abort"},
    {"base", Takes::kText},
    {"claim", Takes::kAnyText},  // an empty one is told as no path
    {"include", Takes::kText},
    {"expires", Takes::kText},
    {"reason", Takes::kText},
    {"note", Takes::kText},
    {"unverified", Takes::kText},
    {"candidate", Takes::kText},
    {"kind", Takes::kText},
    {"untaint", Takes::kText},
    {"m,message", Takes::kText},
    {"max-age", Takes::kText},
};

Result<void> CheckCombination(const Options& options) {
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

Result<void> TakeSeconds(const Words& words, const char* name, std::uint64_t& out) {
  if (words.Has(name)) {
    const auto seconds = ParseDuration(words.Text(name));
    if (!seconds || *seconds == 0) {
      return Fail(Code::kUsage, std::string("--") + name + " is a time as 90, 45m, 12h or 14d");
    }
    out = *seconds;
  }
  return {};
}

Result<void> TakeMode(const Words& words, Options& options) {
  for (const char* mode : {"commit", "index", "worktree"}) {
    if (!words.Has(mode)) {
      continue;
    }
    if (!options.mode.empty()) {
      return Fail(Code::kUsage, "--" + options.mode + " and --" + mode + " exclude each other");
    }
    options.mode = mode;
  }
  return {};
}

}  // namespace

Result<Options> ParseOptions(int argc, const char* const* argv) {
  VerbWords<Verb> read;
  MACO_ASSIGN(read, ReadVerb(kProgram, Rules(), kTable, argc, argv));
  Options options;
  if (read.rule == nullptr) {
    return options;
  }
  const Words& words = read.words;
  options.verb = read.rule->verb;
  options.names = words.names();
  options.json = words.Has("json");
  options.nul = words.Has("z");
  options.dry_run = words.Has("dry-run");
  options.base = words.Text("base");
  options.claims = words.Texts("claim");
  options.is_private = words.Has("private");
  options.include = words.Text("include");
  options.take_over = words.Has("take-over");
  options.staged = words.Has("staged");
  options.rehash = words.Has("rehash");
  options.stat = words.Has("stat");
  options.reason = words.Text("reason");
  options.note = words.Text("note");
  options.unverified = words.Text("unverified");
  options.candidate = words.Text("candidate");
  options.kind = words.Has("kind") ? words.Text("kind") : "path";
  options.untaint = words.Text("untaint");
  options.message = words.Text("message");
  options.proceed = words.Has("continue");
  options.abort = words.Has("abort");
  options.discard = words.Has("discard");
  options.max_age_seconds = kDefaultMaxAge;
  MACO_TRY(TakeMode(words, options));
  MACO_TRY(TakeSeconds(words, "expires", options.expires_seconds));
  MACO_TRY(TakeSeconds(words, "max-age", options.max_age_seconds));
  MACO_TRY(CheckCombination(options));
  return options;
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

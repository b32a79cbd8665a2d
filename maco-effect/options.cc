// One table of options, and which of them each verb takes.
// Contract: maco-effect/options.h.
#include "maco-effect/options.h"

#include <algorithm>
#include <cxxopts.hpp>
#include <optional>

#include "libcommon/base/text.h"
#include "libcommon/cli/duration.h"

namespace maco::effect {
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
constexpr std::uint64_t kDefaultMaxAge = 30 * kDay;
constexpr std::uint64_t kDefaultSettle = 10;
constexpr char kSeeHelp[] = "see 'git maco effect -h'";

const std::vector<VerbRule>& Rules() {
  static const std::vector<VerbRule> kRules = {
      {"push",
       Verb::kPush,
       1,
       2,
       {"expect", "action", "from", "settle", "plan", "dry-run", "json"}},
      {"pr",
       Verb::kPullRequest,
       1,
       1,
       {"remote", "repository", "title", "body", "body-file", "head", "base", "draft", "label",
        "action", "from", "settle", "plan", "dry-run", "json"}},
      {"issue",
       Verb::kIssue,
       1,
       1,
       {"remote", "repository", "title", "body", "body-file", "label", "action", "settle", "plan",
        "dry-run", "json"}},
      {"comment",
       Verb::kComment,
       0,
       0,
       {"remote", "repository", "issue", "pr", "body", "body-file", "action", "settle", "plan",
        "dry-run", "json"}},
      {"send", Verb::kSend, 1, 1, {"settle", "dry-run", "json"}},
      {"list", Verb::kList, 0, 0, {"all", "json", "z"}},
      {"show", Verb::kShow, 1, 1, {"json"}},
      {"recover", Verb::kRecover, 0, kMany, {"json"}},
      {"reconcile", Verb::kReconcile, 1, 1, {"adopt", "abandon", "note", "dry-run", "json"}},
      {"verify", Verb::kVerify, 0, kMany, {"json"}},
      {"archive", Verb::kArchive, 0, 0, {"max-age", "dry-run", "json"}},
      {"hook", Verb::kHook, 0, 2, {"check", "dry-run"}},
  };
  return kRules;
}

cxxopts::Options Table() {
  cxxopts::Options table("maco-effect");
  const auto text = [] { return cxxopts::value<std::string>(); };
  table.add_options()                                                         //
      ("h,help", "")("json", "")("z", "")("n,dry-run", "")("plan", "")        //
      ("draft", "")("abandon", "")("all", "")("check", "")                    //
      ("action", "", text())("from", "", text())("settle", "", text())        //
      ("expect", "", text())("remote", "", text())("repository", "", text())  //
      ("title", "", text())("body", "", text())("body-file", "", text())      //
      ("head", "", text())("base", "", text())("label", "", text())           //
      ("issue", "", text())("pr", "", text())("adopt", "", text())            //
      ("note", "", text())("max-age", "", text());
  return table;
}

Result<void> CheckCombination(const Options& options) {
  if (options.json && options.nul) {
    return Fail(Code::kUsage, "--json and -z exclude each other");
  }
  if (!options.body.empty() && !options.body_file.empty()) {
    return Fail(Code::kUsage, "--body and --body-file exclude each other");
  }
  if (!options.remote.empty() && !options.repository.empty()) {
    return Fail(Code::kUsage, "--remote and --repository exclude each other");
  }
  if (options.from == "-" && options.body_file == "-") {
    return Fail(Code::kUsage, "standard input is either for --from or for --body-file");
  }
  if (options.verb == Verb::kPush && options.names.size() == 1 && options.from.empty()) {
    return Fail(Code::kUsage, "push needs SRC:DST, or --from", kSeeHelp);
  }
  if ((options.verb == Verb::kPullRequest || options.verb == Verb::kIssue) &&
      options.names.front() != "create") {
    return Fail(Code::kUsage,
                "only 'create' is known, not '" + EscapeControl(options.names.front()) + "'",
                kSeeHelp);
  }
  if (options.verb == Verb::kComment && (options.issue == 0) == (options.pr == 0)) {
    return Fail(Code::kUsage, "comment needs --issue N or --pr N");
  }
  if (options.verb == Verb::kReconcile && options.adopt.empty() != options.abandon) {
    return Fail(Code::kUsage, "reconcile needs --adopt RECEIPT or --abandon");
  }
  if (options.abandon && options.note.empty()) {
    return Fail(Code::kUsage, "--abandon needs --note TEXT");
  }
  return {};
}

Result<void> TakeNumbers(const cxxopts::ParseResult& parsed, Options& options) {
  options.settle_seconds = kDefaultSettle;
  options.max_age_seconds = kDefaultMaxAge;
  if (parsed.count("settle") != 0) {
    const auto seconds = ParseDuration(parsed["settle"].as<std::string>());
    if (!seconds || *seconds > kDay) {
      return Fail(Code::kUsage, "--settle is a time as 0, 90 or 45m, up to a day");
    }
    options.settle_seconds = *seconds;
  }
  if (parsed.count("max-age") != 0) {
    const auto seconds = ParseDuration(parsed["max-age"].as<std::string>());
    if (!seconds) {
      return Fail(Code::kUsage, "--max-age is a time as 0, 90, 45m, 12h or 14d");
    }
    options.max_age_seconds = *seconds;
  }
  for (const auto& [name, member] : {std::pair("issue", &Options::issue), {"pr", &Options::pr}}) {
    if (parsed.count(name) == 0) {
      continue;
    }
    const auto number = ParseUint(parsed[name].as<std::string>());
    if (!number || *number == 0) {
      return Fail(Code::kUsage, std::string("--") + name + " is a number");
    }
    options.*member = *number;
  }
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
    if (argument.key() == "label") {
      options.labels.push_back(argument.value());
    } else if (argument.value().empty() && argument.key() != "body") {
      return Fail(Code::kUsage, "--" + argument.key() + " is empty", kSeeHelp);
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
  options.plan = flag("plan");
  options.draft = flag("draft");
  options.abandon = flag("abandon");
  options.all = flag("all");
  options.check = flag("check");
  options.action = text("action");
  options.from = text("from");
  options.expect = text("expect");
  options.remote = text("remote");
  options.repository = text("repository");
  options.title = text("title");
  options.body = text("body");
  options.body_file = text("body-file");
  options.head = text("head");
  options.base = text("base");
  options.adopt = text("adopt");
  options.note = text("note");
  std::ranges::sort(options.labels);
  MACO_TRY(TakeNumbers(parsed, options));
  MACO_TRY(CheckCombination(options));
  return options;
}

bool IsSending(Verb verb) {
  return verb == Verb::kPush || verb == Verb::kPullRequest || verb == Verb::kIssue ||
         verb == Verb::kComment;
}

}  // namespace

Result<Options> ParseOptions(int argc, const char* const* argv) {
  // "plan push ..." is "push --plan ...".
  const bool plan = argc > 1 && std::string_view(argv[1]) == "plan";
  if (plan) {
    --argc;
    ++argv;
  }
  const std::string_view verb = argc > 1 ? argv[1] : "";
  if (verb == "-h" || verb == "--help") {
    return Options{};
  }
  const auto rule = std::ranges::find(Rules(), verb, &VerbRule::name);
  if (rule == Rules().end() || (plan && !IsSending(rule->verb))) {
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
    auto options = Take(table.parse(end - 1, argv + 1), *rule, verbatim);
    if (options) {
      options->plan = options->plan || plan;
    }
    return options;
  } catch (const cxxopts::exceptions::exception& error) {
    return Fail(Code::kUsage, error.what(), kSeeHelp);
  }
}

std::string Usage() {
  return "usage: git maco effect push [--expect OID|none] [--from FILE] [OPTION]... REMOTE\n"
         "                            [SRC:DST]\n"
         "       git maco effect pr create --title TEXT --head BRANCH --base BRANCH\n"
         "                            [--body TEXT | --body-file FILE] [--draft] [--label "
         "NAME]...\n"
         "                            [--remote NAME | --repository R] [OPTION]...\n"
         "       git maco effect pr create --from FILE [--title TEXT] [--base BRANCH]\n"
         "                            [--remote NAME] [OPTION]...\n"
         "       git maco effect issue create --title TEXT [--body TEXT | --body-file FILE]\n"
         "                            [--label NAME]... [--remote NAME | --repository R]\n"
         "                            [OPTION]...\n"
         "       git maco effect comment (--issue N | --pr N) (--body TEXT | --body-file FILE)\n"
         "                            [--remote NAME | --repository R] [OPTION]...\n"
         "       git maco effect plan (push | pr | issue | comment) ...\n"
         "       git maco effect send [--settle TIME] [-n] [--json] ID\n"
         "       git maco effect list [--all] [--json | -z]\n"
         "       git maco effect show [--json] ID\n"
         "       git maco effect recover [--json] [ID]...\n"
         "       git maco effect reconcile (--adopt RECEIPT [--note TEXT] | --abandon --note "
         "TEXT)\n"
         "                            [-n] [--json] ID\n"
         "       git maco effect verify [--json] [ID]...\n"
         "       git maco effect archive [--max-age TIME] [-n] [--json]\n"
         "       git maco effect hook [-n]\n";
}

}  // namespace maco::effect

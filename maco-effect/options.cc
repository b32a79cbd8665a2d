// One table of options, and which of them each verb takes.
// Contract: maco-effect/options.h.
#include "maco-effect/options.h"

#include "libcommon/cli/duration.h"
#include "libcommon/cli/verb_rule.h"

namespace maco::effect {
namespace {

constexpr std::uint64_t kDay = 86'400;
constexpr std::uint64_t kDefaultMaxAge = 30 * kDay;
constexpr std::uint64_t kDefaultSettle = 10;
constexpr char kProgram[] = "git maco effect";
constexpr char kSeeHelp[] = "see 'git maco effect -h'";

const std::vector<VerbRule<Verb>>& Rules() {
  static const std::vector<VerbRule<Verb>> kRules = {
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
      {"recover", Verb::kRecover, 0, kManyNames, {"json"}},
      {"reconcile", Verb::kReconcile, 1, 1, {"adopt", "abandon", "note", "dry-run", "json"}},
      {"verify", Verb::kVerify, 0, kManyNames, {"json"}},
      {"archive", Verb::kArchive, 0, 0, {"max-age", "dry-run", "json"}},
      {"hook", Verb::kHook, 0, 2, {"check", "dry-run"}},
  };
  return kRules;
}

constexpr OptionRule kTable[] = {
    {"json"},
    {"z"},
    {"n,dry-run"},
    {"plan"},
    {"draft"},
    {"abandon"},
    {"all"},
    {"check"},
    {"action", Takes::kText},
    {"from", Takes::kText},
    {"settle", Takes::kText},
    {"expect", Takes::kText},
    {"remote", Takes::kText},
    {"repository", Takes::kText},
    {"title", Takes::kText},
    {"body", Takes::kAnyText},
    {"body-file", Takes::kText},
    {"head", Takes::kText},
    {"base", Takes::kText},
    {"label", Takes::kAnyText},
    {"issue", Takes::kText},
    {"pr", Takes::kText},
    {"adopt", Takes::kText},
    {"note", Takes::kText},
    {"max-age", Takes::kText},
};

Result<void> CheckCombination(const Options& options) {
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
  if (options.verb == Verb::kPullRequest && !options.from.empty() && !options.head.empty()) {
    return Fail(Code::kUsage, "--from pushes a branch of its own, so --head is left out");
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

Result<void> TakeNumbers(const Words& words, Options& options) {
  options.settle_seconds = kDefaultSettle;
  options.max_age_seconds = kDefaultMaxAge;
  if (words.Has("settle")) {
    const auto seconds = ParseDuration(words.Text("settle"));
    if (!seconds || *seconds > kDay) {
      return Fail(Code::kUsage, "--settle is a time as 0, 90 or 45m, up to a day");
    }
    options.settle_seconds = *seconds;
  }
  if (words.Has("max-age")) {
    const auto seconds = ParseDuration(words.Text("max-age"));
    if (!seconds) {
      return Fail(Code::kUsage, "--max-age is a time as 0, 90, 45m, 12h or 14d");
    }
    options.max_age_seconds = *seconds;
  }
  for (const auto& [name, member] : {std::pair("issue", &Options::issue), {"pr", &Options::pr}}) {
    if (!words.Has(name)) {
      continue;
    }
    const auto number = ParseUint(words.Text(name));
    if (!number || *number == 0) {
      return Fail(Code::kUsage, std::string("--") + name + " is a number");
    }
    options.*member = *number;
  }
  return {};
}

bool IsSending(Verb verb) {
  return verb == Verb::kPush || verb == Verb::kPullRequest || verb == Verb::kIssue ||
         verb == Verb::kComment;
}

}  // namespace

Result<Options> ParseOptions(int argc, const char* const* argv) {
  // "plan push ..." is "push --plan ...".
  const bool plan = argc > 1 && std::string_view(argv[1]) == "plan";
  VerbWords<Verb> read;
  MACO_ASSIGN(read,
              ReadVerb(kProgram, Rules(), kTable, argc - (plan ? 1 : 0), argv + (plan ? 1 : 0)));
  Options options;
  if (read.rule == nullptr) {
    return options;
  }
  options.verb = read.rule->verb;
  if (plan && !IsSending(options.verb)) {
    return Fail(Misused(kProgram, "'" + std::string(read.rule->name) + "' cannot be planned"));
  }
  const Words& words = read.words;
  options.names = words.names();
  options.json = words.Has("json");
  options.nul = words.Has("z");
  options.dry_run = words.Has("dry-run");
  options.plan = plan || words.Has("plan");
  options.draft = words.Has("draft");
  options.abandon = words.Has("abandon");
  options.all = words.Has("all");
  options.check = words.Has("check");
  options.action = words.Text("action");
  options.from = words.Text("from");
  options.expect = words.Text("expect");
  options.remote = words.Text("remote");
  options.repository = words.Text("repository");
  options.title = words.Text("title");
  options.body = words.Text("body");
  options.body_file = words.Text("body-file");
  options.head = words.Text("head");
  options.base = words.Text("base");
  options.labels = words.Texts("label");
  std::ranges::sort(options.labels);
  options.adopt = words.Text("adopt");
  options.note = words.Text("note");
  MACO_TRY(TakeNumbers(words, options));
  MACO_TRY(CheckCombination(options));
  return options;
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

// One table of options, and which of them each verb takes.
// Contract: maco-journal/options.h.
#include "maco-journal/options.h"

#include <span>

#include "libcommon/cli/verb_rule.h"

namespace maco::journal {
namespace {

constexpr char kProgram[] = "git maco journal";

const std::vector<VerbRule<Verb>>& Rules() {
  static const std::vector<VerbRule<Verb>> kRules = {
      {"list", Verb::kList, 0, 0, {"json", "z"}},
      {"show", Verb::kShow, 1, 1, {"json", "ndjson"}},
      {"verify", Verb::kVerify, 0, kManyNames, {"json"}},
      {"repair", Verb::kRepair, 1, 1, {"cut-torn-tail", "rewrite-head", "dry-run", "json"}},
      {"resolve",
       Verb::kResolve,
       1,
       2,
       {"happened", "did-not-happen", "abandoned", "note", "dry-run"}},
      {"resume", Verb::kResume, 0, 1, {"json", "checkpoint"}},
      {"checkpoint", Verb::kCheckpoint, 0, 1, {"output", "check", "json"}},
      {"rebind", Verb::kRebind, 0, 0, {"dry-run"}},
      {"rekey", Verb::kRekey, 0, 0, {"dry-run"}},
      {"archive", Verb::kArchive, 0, kManyNames, {"dry-run", "json"}},
      {"anchor", Verb::kAnchor, 2, 2, {"dry-run", "json"}},
      {"export", Verb::kExport, 0, kManyNames, {"output"}},
  };
  return kRules;
}

constexpr OptionRule kTable[] = {
    {"json"},
    {"ndjson"},
    {"z"},
    {"n,dry-run"},
    {"cut-torn-tail"},
    {"rewrite-head"},
    {"happened"},
    {"did-not-happen"},
    {"abandoned"},
    {"note", Takes::kText},
    {"output", Takes::kText},
    {"check", Takes::kText},
    {"checkpoint", Takes::kText},
};

// What the rules for one verb do not say.
Result<void> CheckCombination(const Options& options) {
  if (options.json && options.ndjson) {
    return Fail(Code::kUsage, "--json and --ndjson exclude each other");
  }
  const int words = static_cast<int>(options.happened) + static_cast<int>(options.did_not_happen) +
                    static_cast<int>(options.abandoned);
  if (options.verb == Verb::kResolve && words != 1) {
    return Fail(Code::kUsage, "resolve needs one of --happened, --did-not-happen and --abandoned");
  }
  if (options.abandoned && options.names.size() != 1) {
    return Fail(Code::kUsage, "a step either happened or did not; only a run is abandoned");
  }
  if (options.verb == Verb::kResolve && options.note.empty()) {
    return Fail(Code::kUsage, "resolve needs --note TEXT: how do you know?");
  }
  if (options.verb == Verb::kRepair && !options.cut_torn_tail && !options.rewrite_head) {
    return Fail(Code::kUsage, "repair needs --cut-torn-tail or --rewrite-head",
                "'git maco journal verify' says which");
  }
  if (options.verb == Verb::kResume && options.names.empty() == options.checkpoint.empty()) {
    return Fail(Code::kUsage, "resume needs the name of a run, or --checkpoint FILE");
  }
  if (options.verb == Verb::kCheckpoint) {
    const bool writes = options.names.size() == 1 && !options.output.empty();
    const bool checks = options.names.empty() && !options.check.empty();
    if (writes == checks) {
      return Fail(Code::kUsage, "checkpoint needs a run and --output FILE, or --check FILE");
    }
  }
  if (options.verb == Verb::kAnchor && options.names[0] != "push" && options.names[0] != "check") {
    return Fail(Code::kUsage, "anchor needs 'push' or 'check' and a remote");
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
  options.ndjson = words.Has("ndjson");
  options.nul = words.Has("z");
  options.dry_run = words.Has("dry-run");
  options.cut_torn_tail = words.Has("cut-torn-tail");
  options.rewrite_head = words.Has("rewrite-head");
  options.happened = words.Has("happened");
  options.did_not_happen = words.Has("did-not-happen");
  options.abandoned = words.Has("abandoned");
  options.note = words.Text("note");
  options.output = words.Text("output");
  options.check = words.Text("check");
  options.checkpoint = words.Text("checkpoint");
  MACO_TRY(CheckCombination(options));
  return options;
}

std::string Usage() {
  return "usage: git maco journal list [--json | -z]\n"
         "       git maco journal show [--json | --ndjson] JOURNAL\n"
         "       git maco journal verify [--json] [JOURNAL]...\n"
         "       git maco journal repair [--cut-torn-tail] [--rewrite-head] [-n] [--json] JOURNAL\n"
         "       git maco journal resolve (--happened | --did-not-happen) --note TEXT [-n]\n"
         "                                RUN [STEP]\n"
         "       git maco journal resolve --abandoned --note TEXT [-n] RUN\n"
         "       git maco journal resume [--json] (RUN | --checkpoint FILE)\n"
         "       git maco journal checkpoint [--json] (--output FILE RUN | --check FILE)\n"
         "       git maco journal rebind [-n]\n"
         "       git maco journal rekey [-n]\n"
         "       git maco journal archive [-n] [--json] [STORE]...\n"
         "       git maco journal anchor [-n] [--json] (push | check) REMOTE\n"
         "       git maco journal export [--output FILE] [JOURNAL]...\n";
}

}  // namespace maco::journal

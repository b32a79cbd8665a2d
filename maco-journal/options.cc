// One table of options, and which of them each verb takes.
// Contract: maco-journal/options.h.
#include "maco-journal/options.h"

#include <cxxopts.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace maco::journal {
namespace {

struct VerbRule {
  const char* name;
  Verb verb;
  std::size_t min_names;
  std::size_t max_names;
  std::vector<std::string_view> options;
};

constexpr std::size_t kMany = 100'000;

const std::vector<VerbRule>& Rules() {
  static const std::vector<VerbRule> kRules = {
      {"list", Verb::kList, 0, 0, {"json", "z"}},
      {"show", Verb::kShow, 1, 1, {"json", "ndjson"}},
      {"verify", Verb::kVerify, 0, kMany, {"json"}},
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
      {"archive", Verb::kArchive, 0, kMany, {"dry-run", "json"}},
      {"anchor", Verb::kAnchor, 2, 2, {"dry-run", "json"}},
      {"export", Verb::kExport, 0, kMany, {"output"}},
  };
  return kRules;
}

cxxopts::Options Table() {
  cxxopts::Options table("maco-journal");
  const auto text = [] { return cxxopts::value<std::string>(); };
  table.add_options()                                                              //
      ("h,help", "")("json", "")("ndjson", "")("z", "")("n,dry-run", "")           //
      ("cut-torn-tail", "")("rewrite-head", "")                                    //
      ("happened", "")("did-not-happen", "")("abandoned", "")("note", "", text())  //
      ("output", "", text())("check", "", text())("checkpoint", "", text());
  return table;
}

// What the rules for one verb do not say.
Result<void> CheckCombination(const Options& options) {
  if (options.json && options.ndjson) {
    return Fail(Code::kUsage, "--json and --ndjson exclude each other");
  }
  if (options.json && options.nul) {
    return Fail(Code::kUsage, "--json and -z exclude each other");
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

Result<Options> Take(const cxxopts::ParseResult& parsed, const VerbRule& rule) {
  Options options;
  options.verb = rule.verb;
  options.names = parsed.unmatched();
  for (const auto& argument : parsed.arguments()) {
    const bool allowed = std::ranges::find(rule.options, argument.key()) != rule.options.end();
    if (!allowed && argument.key() != "help") {
      return Fail(Code::kUsage, "'" + std::string(rule.name) + "' takes no --" + argument.key(),
                  "see 'git maco journal -h'");
    }
  }
  for (const auto& name : options.names) {
    if (name.size() > 1 && name[0] == '-') {
      return Fail(Code::kUsage, "unknown option '" + name + "'", "see 'git maco journal -h'");
    }
  }
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
                "see 'git maco journal -h'");
  }
  options.json = flag("json");
  options.ndjson = flag("ndjson");
  options.nul = flag("z");
  options.dry_run = flag("dry-run");
  options.cut_torn_tail = flag("cut-torn-tail");
  options.rewrite_head = flag("rewrite-head");
  options.happened = flag("happened");
  options.did_not_happen = flag("did-not-happen");
  options.abandoned = flag("abandoned");
  options.note = text("note");
  options.output = text("output");
  options.check = text("check");
  options.checkpoint = text("checkpoint");
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
                verb.empty() ? "no command given" : "unknown command '" + std::string(verb) + "'",
                "see 'git maco journal -h'");
  }
  try {
    cxxopts::Options table = Table();
    table.allow_unrecognised_options();  // to name them with the verb's own words
    return Take(table.parse(argc - 1, argv + 1), *rule);
  } catch (const cxxopts::exceptions::exception& error) {
    return Fail(Code::kUsage, error.what(), "see 'git maco journal -h'");
  }
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

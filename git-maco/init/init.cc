// Options, execution and output of `git maco init`.
// Contract: git-maco/init/init.h.
#include "git-maco/init/init.h"

#include <cerrno>
#include <cstdio>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/auth/state_root.h"
#include "libcommon/base/report.h"
#include "libcommon/base/text.h"
#include "libcommon/git/repository.h"
#include "libcommon/os/directory.h"

namespace maco {
namespace {

constexpr char kName[] = "git maco init";

struct Outcome {
  std::string state_root;     // absolute path
  std::string repository_id;  // empty after a dry run that would create
  bool missing = false;       // was missing before
};

Result<std::string> JsonText(const InitOptions& options, const Outcome& outcome) {
  Json document = Json::object();
  document["schema"] = "maco.init/1";
  document["state_root"] = EscapeControl(outcome.state_root);
  if (!IsUtf8(outcome.state_root)) {
    document["state_root_base64"] = ToBase64(outcome.state_root);
  }
  document["repository_id"] =
      outcome.repository_id.empty() ? Json(nullptr) : Json(outcome.repository_id);
  document["created"] = outcome.missing && !options.dry_run;
  document["dry_run"] = options.dry_run;
  return Canonicalize(document);
}

void Tell(const InitOptions& options, const Outcome& outcome) {
  const char* what = "exists: ";
  if (outcome.missing) {
    what = options.dry_run ? "would create: " : "created: ";
  }
  Note(kName, what + outcome.state_root);
}

Result<void> Answer(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0) {
    return FailOs(errno, "write to standard output");
  }
  return {};
}

Result<Outcome> Execute(const InitOptions& options) {
  Repository repository;
  MACO_ASSIGN(repository, FindRepository());
  Directory common_dir;
  MACO_ASSIGN(common_dir, Directory::OpenPath(repository.common_dir));
  Outcome outcome;
  outcome.state_root = repository.common_dir + "/" + kStateRootName;
  MACO_ASSIGN(outcome.missing, StateRoot::Missing(common_dir));
  if (outcome.missing && options.dry_run) {
    return outcome;
  }
  const auto root =
      options.dry_run ? StateRoot::Open(common_dir) : StateRoot::Initialize(common_dir);
  if (!root) {
    return Fail(root.error());
  }
  outcome.repository_id = root->repository_id();
  return outcome;
}

}  // namespace

std::string InitUsage() {
  return "usage: git maco init [-n | --dry-run] [-q | --quiet] [--json]\n"
         "\n"
         "    -n, --dry-run   create nothing, say what would be created\n"
         "    -q, --quiet     print nothing but the repository id\n"
         "    --json          print one JSON document, schema maco.init/1\n";
}

Result<InitOptions> ParseInitOptions(const std::vector<std::string>& arguments) {
  InitOptions options;
  for (const std::string& argument : arguments) {
    if (argument == "-n" || argument == "--dry-run") {
      options.dry_run = true;
    } else if (argument == "-q" || argument == "--quiet") {
      options.quiet = true;
    } else if (argument == "--json") {
      options.json = true;
    } else if (argument == "-h" || argument == "--help") {
      options.help = true;
    } else {
      return Fail(Code::kUsage, "unknown argument '" + argument + "'", "see 'git maco init -h'");
    }
  }
  return options;
}

Result<void> RunInit(const InitOptions& options) {
  if (options.help) {
    return Answer(InitUsage());
  }
  Outcome outcome;
  MACO_ASSIGN(outcome, Execute(options));
  if (options.json) {
    std::string text;
    MACO_ASSIGN(text, JsonText(options, outcome));
    return Answer(text + "\n");
  }
  if (!options.quiet) {
    Tell(options, outcome);
  }
  return outcome.repository_id.empty() ? Result<void>() : Answer(outcome.repository_id + "\n");
}

}  // namespace maco

// Options and execution of `git maco status`.
// Contract: git-maco/status/status.h.
#include "git-maco/status/status.h"

#include "git-maco/status/survey.h"
#include "libcommon/base/exit_code.h"
#include "libcommon/cli/output.h"
#include "libcommon/git/plain_repository.h"
#include "libcommon/os/directory.h"

namespace maco::status {
std::string Usage() {
  return "usage: git maco status [--json | --porcelain]\n"
         "\n"
         "    --json        print one JSON document, schema maco.status/1\n"
         "    --porcelain   print lines that stay the same from version to version\n";
}

Result<Options> ParseOptions(const std::vector<std::string>& arguments) {
  Options options;
  for (const std::string& argument : arguments) {
    if (argument == "--json") {
      options.json = true;
    } else if (argument == "--porcelain") {
      options.porcelain = true;
    } else if (argument == "-h" || argument == "--help") {
      options.help = true;
    } else {
      return Fail(Code::kUsage, "unknown argument '" + argument + "'", "see 'git maco status -h'");
    }
  }
  if (options.json && options.porcelain) {
    return Fail(Code::kUsage, "--json and --porcelain exclude each other",
                "see 'git maco status -h'");
  }
  return options;
}

Result<int> RunStatus(const Options& options) {
  if (options.help) {
    MACO_TRY(Print(Usage()));
    return kExitUsage;
  }
  Repository repository;
  MACO_ASSIGN(repository, LocateRepository());
  Directory common_dir;
  MACO_ASSIGN(common_dir, Directory::OpenPath(repository.common_dir));
  const auto state = StateRoot::Open(common_dir, IfMoved::kReport);
  if (!state) {
    return Fail(state.error());
  }
  Survey survey;
  MACO_ASSIGN(survey, SurveyRuns(*state, repository.common_dir + "/" + kStateRootName));
  MACO_TRY(SurveyStores(*state, survey));
  SurveyLanes(*state, survey);
  SurveySpace(*state, survey);
  std::string text;
  if (options.json) {
    MACO_ASSIGN(text, SurveyJson(survey));
  } else if (options.porcelain) {
    text = SurveyPorcelain(survey);
  } else {
    text = SurveyText(survey);
  }
  MACO_TRY(Print(text));
  return survey.quiet() ? kExitOk : kExitNo;
}

}  // namespace maco::status

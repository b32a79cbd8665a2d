// `hook`: a pre-commit hook that keeps commits off what another lane has claimed.
#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"
#include "libcommon/cli/output.h"
#include "libcommon/git/config.h"
#include "libcommon/git/hook_file.h"
#include "maco-worktree/place.h"
#include "maco-worktree/verbs.h"

namespace maco::worktree {
namespace {

constexpr char kName[] = "pre-commit";
constexpr char kText[] =
    "#!/bin/sh\n"
    "# Installed by 'git maco worktree hook': refuses commits on paths that another lane has\n"
    "# claimed. Remove this file to do without it.\n"
    "exec git maco worktree owner --staged\n";

}  // namespace

Result<int> InstallHook(const Options& options) {
  Place place;
  MACO_ASSIGN(place, FindPlace());
  std::vector<ConfigValue> values;
  MACO_ASSIGN(values, ReadConfig("core.hooksPath"));
  const std::string path =
      HooksDirectory(place.repository, values.empty() ? std::string() : values.back().value);
  const std::string file = path + "/" + kName;
  HookState there{};
  MACO_ASSIGN(there, LookAtHook(file, kText));
  if (there == HookState::kOurs) {
    return kExitOk;
  }
  if (there == HookState::kForeign) {
    Note(kTool, "there is a hook already, " + Quoted(file) +
                    "; add to it: git maco worktree owner --staged || exit 1");
    return kExitNo;
  }
  if (options.dry_run) {
    MACO_TRY(Print("would write " + Quoted(file) + "\n"));
    return kExitOk;
  }
  MACO_TRY(WriteHook(path, kName, kText));
  MACO_TRY(Print(Quoted(file) + "\n"));
  return kExitOk;
}

}  // namespace maco::worktree

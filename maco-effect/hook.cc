// `hook`: a pre-push hook that points pushes of lanes' branches to `git maco effect push`.
// Source: githooks(5), "pre-push". A convenience, no fence: `git push --no-verify` skips it.
#include <unistd.h>

#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"
#include "libcommon/base/text.h"
#include "libcommon/cli/output.h"
#include "libcommon/git/hook_file.h"
#include "libcommon/lane/lane_registry.h"
#include "libcommon/os/bounded_read.h"
#include "maco-effect/place.h"
#include "maco-effect/verbs.h"

namespace maco::effect {
namespace {

constexpr char kName[] = "pre-push";
constexpr char kText[] =
    "#!/bin/sh\n"
    "# Installed by 'git maco effect hook': branches of lanes are pushed by 'git maco effect "
    "push',\n"
    "# so that what was pushed is on record. Remove this file to do without it.\n"
    "exec git maco effect hook --check \"$@\"\n";

// "<local ref> <local oid> <remote ref> <remote oid>" a line.
Result<int> CheckPush() {
  Place place;
  MACO_ASSIGN(place, FindPlace());
  auto state = OpenState(place, Access::kRead);
  if (!state && state.error().code == Code::kNotFound) {
    return kExitOk;  // without state there are no lanes
  }
  if (!state) {
    return Fail(std::move(state).error());
  }
  LaneTable table;
  MACO_ASSIGN(table, ReadLanes(*state));
  std::string text;
  MACO_ASSIGN(text, ReadAll(STDIN_FILENO, std::size_t{16} << 20U));
  int status = kExitOk;
  for (const auto line : Split(text, '\n')) {
    const std::string ref(line.substr(0, line.find(' ')));
    for (const auto& [name, lane] : table.lanes) {
      if (!ref.empty() && lane.branch == ref && lane.state == "ready") {
        Note(kTool, "'" + EscapeControl(ref) + "' is the branch of lane '" + name +
                        "'; git maco worktree show --json " + name +
                        " | git maco effect push --from - REMOTE");
        status = kExitNo;
      }
    }
  }
  return status;
}

}  // namespace

Result<int> Hook(const Options& options) {
  if (options.check) {
    return CheckPush();
  }
  Place place;
  MACO_ASSIGN(place, FindPlace());
  const std::string path = HooksDirectory(place.repository, place.Setting("core.hookspath"));
  const std::string file = path + "/" + kName;
  HookState there{};
  MACO_ASSIGN(there, LookAtHook(file, kText));
  if (there == HookState::kOurs) {
    return kExitOk;
  }
  if (there == HookState::kForeign) {
    Note(kTool, "there is a hook already, '" + EscapeControl(file) +
                    "'; add to it: git maco effect hook --check \"$@\" || exit 1");
    return kExitNo;
  }
  if (options.dry_run) {
    MACO_TRY(Print("would write '" + EscapeControl(file) + "'\n"));
    return kExitOk;
  }
  MACO_TRY(WriteHook(path, kName, kText));
  MACO_TRY(Print("'" + EscapeControl(file) + "'\n"));
  return kExitOk;
}

}  // namespace maco::effect

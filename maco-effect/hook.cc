// `hook`: a pre-push hook that points pushes of lanes' branches to `git maco effect push`.
// Source: githooks(5), "pre-push". A convenience, no fence: `git push --no-verify` skips it.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "libcommon/base/byte_codec.h"
#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"
#include "libcommon/base/text.h"
#include "libcommon/cli/output.h"
#include "libcommon/lane/lane_registry.h"
#include "libcommon/os/atomic_file.h"
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
constexpr std::size_t kMaxText = 65'536;

// "<local ref> <local oid> <remote ref> <remote oid>" a line.
Result<int> CheckPush() {
  Place place;
  MACO_ASSIGN(place, FindPlace());
  auto state = OpenState(place, Access::kRead);
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

// core.hooksPath, or the repository's own.
std::string HooksDirectory(const Place& place) {
  const std::string path = place.Setting("core.hookspath");
  if (path.empty()) {
    return place.repository.common_dir + "/hooks";
  }
  if (const char* home = std::getenv("HOME"); path.starts_with("~/") && home != nullptr) {
    return home + path.substr(1);
  }
  return path.starts_with('/') ? path : place.top() + "/" + path;
}

}  // namespace

Result<int> Hook(const Options& options) {
  if (options.check) {
    return CheckPush();
  }
  Place place;
  MACO_ASSIGN(place, FindPlace());
  const std::string path = HooksDirectory(place);
  const std::string file = path + "/" + kName;
  if (const auto there = ReadPath(file, kMaxText)) {
    if (*there == kText) {
      return kExitOk;
    }
    Note(kTool, "there is a hook already, '" + EscapeControl(file) +
                    "'; add to it: git maco effect hook --check \"$@\" || exit 1");
    return kExitNo;
  }
  if (options.dry_run) {
    MACO_TRY(Print("would write '" + EscapeControl(file) + "'\n"));
    return kExitOk;
  }
  if (mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) {
    return FailOs(errno, "create", path);
  }
  Directory directory;
  MACO_ASSIGN(directory, Directory::OpenPath(path));
  auto hook = AtomicFile::Create(directory, kName);
  if (!hook) {
    return Fail(std::move(hook).error());
  }
  MACO_TRY(WriteAll(hook->fd(), AsBytes(kText)));
  if (fchmod(hook->fd(), 0755) != 0) {
    return FailOs(errno, "make executable", file);
  }
  MACO_TRY(hook->CommitNew());
  MACO_TRY(Print("'" + EscapeControl(file) + "'\n"));
  return kExitOk;
}

}  // namespace maco::effect

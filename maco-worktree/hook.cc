// `hook`: a pre-commit hook that keeps commits off what another lane has claimed.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "libcommon/base/byte_codec.h"
#include "libcommon/base/exit_code.h"
#include "libcommon/base/report.h"
#include "libcommon/cli/output.h"
#include "libcommon/git/config.h"
#include "libcommon/os/atomic_file.h"
#include "libcommon/os/bounded_read.h"
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

// core.hooksPath, or the repository's own.
Result<std::string> HooksDirectory(const Place& place) {
  std::vector<ConfigValue> values;
  MACO_ASSIGN(values, ReadConfig("core.hooksPath"));
  if (values.empty()) {
    return place.repository.common_dir + "/hooks";
  }
  const std::string& path = values.back().value;
  if (const char* home = std::getenv("HOME"); path.starts_with("~/") && home != nullptr) {
    return home + path.substr(1);
  }
  // It counts from where hooks are run, see githooks(5).
  const std::string& here =
      place.repository.worktree.empty() ? place.repository.git_dir : place.repository.worktree;
  return path.starts_with('/') ? path : here + "/" + path;
}

}  // namespace

Result<int> InstallHook(const Options& options) {
  Place place;
  MACO_ASSIGN(place, FindPlace());
  std::string path;
  MACO_ASSIGN(path, HooksDirectory(place));
  const std::string file = path + "/" + kName;
  if (const auto there = ReadPath(file, 65536)) {
    if (*there == kText) {
      return kExitOk;
    }
    Note(kTool, "there is a hook already, " + Quoted(file) +
                    "; add to it: git maco worktree owner --staged || exit 1");
    return kExitNo;
  }
  if (options.dry_run) {
    MACO_TRY(Print("would write " + Quoted(file) + "\n"));
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
  MACO_TRY(Print(Quoted(file) + "\n"));
  return kExitOk;
}

}  // namespace maco::worktree

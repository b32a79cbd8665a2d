// By name and, for index.lock, by its text.
// Contract: maco-worktree/apply_leftovers.h.
#include "maco-worktree/apply_leftovers.h"

#include <unistd.h>

#include "libcommon/os/bounded_read.h"
#include "maco-worktree/apply_transaction.h"
#include "maco-worktree/lane_removal.h"

namespace maco::worktree {
namespace {

constexpr std::size_t kMaxNames = 100'000;
constexpr std::size_t kIdDigits = 32;
constexpr char kIndexPrefix[] = "index.maco-";

}  // namespace

Result<bool> ClearApplyLeftovers(const std::string& git_dir, const LaneTable& table, bool dry_run) {
  Directory directory;
  MACO_ASSIGN(directory, Directory::OpenPath(git_dir));
  std::vector<std::string> names;
  MACO_ASSIGN(names, directory.List(kMaxNames));
  bool found = false;
  for (const auto& name : names) {
    for (const std::string prefix : {kApplyPrefix, kIndexPrefix}) {
      const std::string id = name.starts_with(prefix) ? name.substr(prefix.size(), kIdDigits) : "";
      if (id.size() != kIdDigits || table.applies.count(id) != 0) {
        continue;
      }
      found = true;
      if (!dry_run) {
        MACO_TRY(prefix == kApplyPrefix ? RemoveTree(git_dir + "/" + name)
                                        : directory.Unlink(name));
      }
    }
  }
  const std::string lock = git_dir + "/index.lock";
  const std::string begin = kApplyLockText;
  const auto text = ReadPath(lock, 4096);
  if (text && text->starts_with(begin) &&
      table.applies.count(text->substr(begin.size(), kIdDigits)) == 0) {
    found = true;
    if (!dry_run) {
      MACO_TRY(directory.Unlink("index.lock"));
    }
  }
  return found;
}

}  // namespace maco::worktree

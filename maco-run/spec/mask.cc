// Choice of masks, aliases by the mount table, and the search above the roots.
// Contract: maco-run/spec/mask.h.
#include "maco-run/spec/mask.h"

#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "libcommon/auth/state_root.h"
#include "libcommon/base/text.h"
#include "libcommon/os/bounded_read.h"
#include "libcommon/os/mountinfo.h"
#include "maco-run/spec/git_link.h"
#include "maco-run/spec/path_walk.h"

namespace maco::run {
namespace {

constexpr std::size_t kMaxPlaces = 256;  // of a search

bool Exists(const std::string& path) {
  struct stat st {};
  return lstat(path.c_str(), &st) == 0;
}

bool IsFile(const std::string& path) {
  struct stat st {};
  return stat(path.c_str(), &st) == 0 && S_ISREG(st.st_mode);
}

// Every other path at which a mount shows what is at `path`.
std::vector<std::string> OtherPaths(const MountTable& table, const std::string& path) {
  std::vector<std::string> out;
  const Mount* home = table.Covering(path);
  if (home == nullptr) {
    return out;
  }
  const std::string below = path.substr(home->point == "/" ? 0 : home->point.size());
  const std::string inside = (home->root == "/" ? "" : home->root) + below;
  for (const auto& mount : table.mounts()) {
    if (mount.device != home->device || !PathIsWithin(inside, mount.root)) {
      continue;
    }
    const std::string rest = inside.substr(mount.root == "/" ? 0 : mount.root.size());
    const std::string alias = (mount.point == "/" ? "" : mount.point) + rest;
    if (alias != path) {
      out.push_back(alias);
    }
  }
  return out;
}

// A search that visits each directory once.
class Enclosing {
 public:
  std::vector<std::string> Find(const std::vector<std::string>& places) {
    for (const auto& place : places) {
      Add(place);
    }
    while (!open_.empty()) {
      const std::string place = open_.back();
      open_.pop_back();
      Look(place);
    }
    return found_;
  }

 private:
  // A place and all directories above it.
  void Add(const std::string& place) {
    std::string path = Canonical(place);
    while (!path.empty() && seen_.size() < kMaxPlaces && seen_.insert(path).second) {
      open_.push_back(path);
      path = path == "/" ? "" : path.substr(0, std::max<std::size_t>(path.rfind('/'), 1));
    }
  }

  void Look(const std::string& place) {
    const std::string base = place == "/" ? "" : place;
    if (Exists(base + "/HEAD")) {  // a git directory
      Meet(base);
      if (const auto common = CommonDirOf(base)) {
        Add(*common);
      }
    }
    if (const auto git_dir = GitDirOf(base + "/.git")) {
      Add(*git_dir);
    }
  }

  void Meet(const std::string& git_dir) {
    const std::string state = git_dir + "/" + kStateRootName;
    if (IsFile(state + "/key")) {
      found_.push_back(state);
    }
  }

  std::set<std::string> seen_;
  std::vector<std::string> open_;
  std::vector<std::string> found_;
};

}  // namespace

bool IsCovered(const RunSpec& spec, const std::string& path) {
  return std::ranges::any_of(spec.private_directories,
                             [&](const auto& cover) { return PathIsWithin(path, cover.path); });
}

Result<void> HidePath(RunSpec& spec, const std::string& path) {
  const std::string real = Canonical(path);
  if (real.empty() || IsHidden(spec, real)) {
    return {};
  }
  auto identity = IdentityOfPath(real);
  if (!identity) {
    return {};  // not ours to see either
  }
  const bool covered = IsCovered(spec, real);
  for (const auto& root : spec.roots) {
    if (PathIsWithin(root.path, real) && (root.path == real || !covered)) {
      return Fail(Code::kRefused,
                  "root '" + root.path + "' lies in '" + real + "', which is hidden from every run",
                  "name another directory");
    }
  }
  const bool in_root = std::ranges::any_of(
      spec.roots, [&](const auto& root) { return PathIsWithin(real, root.path); });
  spec.masks.push_back({real, *identity, covered && !in_root});
  return {};
}

bool IsHidden(const RunSpec& spec, const std::string& path) {
  return std::ranges::find(spec.masks, path, &Mask::path) != spec.masks.end();
}

Result<void> HideStateRoots(RunSpec& spec, const std::vector<std::string>& paths) {
  constexpr std::size_t kMaxStateRoots = 64;
  if (paths.size() > kMaxStateRoots) {
    return Fail(Code::kLimit, "more than 64 state roots of git maco lie in and around the roots",
                "run in a smaller directory");
  }
  const auto text = ReadPath("/proc/self/mountinfo", kMaxMountinfoBytes);
  const auto table = text ? MountTable::Parse(*text) : Fail(Code::kIo, "");
  for (const auto& path : paths) {
    MACO_TRY(HidePath(spec, path));
    const auto others = table ? OtherPaths(*table, Canonical(path)) : std::vector<std::string>();
    for (const auto& other : others) {
      MACO_TRY(HidePath(spec, other));
    }
  }
  return {};
}

std::vector<std::string> EnclosingStateRoots(const std::vector<std::string>& places) {
  return Enclosing().Find(places);
}

}  // namespace maco::run

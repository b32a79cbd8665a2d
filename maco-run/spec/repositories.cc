// From the findings of a scan to read-only paths, masks and held directories.
// Contract: maco-run/spec/repositories.h.
#include "maco-run/spec/repositories.h"

#include <algorithm>

#include "libcommon/auth/state_root.h"
#include "libcommon/base/text.h"
#include "libcommon/os/mountinfo.h"
#include "maco-run/spec/git_link.h"
#include "maco-run/spec/mask.h"
#include "maco-run/spec/path_walk.h"

namespace maco::run {
namespace {

// systemd sets up a few hundred mounts in a moment, thousands not at all.
constexpr std::size_t kMaxMounts = 512;

Result<void> CheckMounts(const RunSpec& spec) {
  const auto hidden =
      std::ranges::count_if(spec.masks, [](const auto& mask) { return !mask.by_tmpfs; });
  if (spec.binds.size() + spec.read_only_inside.size() + static_cast<std::size_t>(hidden) >
      kMaxMounts) {
    return Fail(Code::kLimit,
                "the repositories in the writable roots need more than " +
                    std::to_string(kMaxMounts) + " mounts",
                "name smaller directories with --write, or move the repositories elsewhere");
  }
  return {};
}

bool IsReadOnly(const RunSpec& spec, const std::string& path) {
  return std::ranges::find(spec.read_only_inside, path, &ReadOnlyPath::path) !=
         spec.read_only_inside.end();
}

Result<void> MakeReadOnly(const std::string& path, RunSpec& spec) {
  if (IsReadOnly(spec, path)) {
    return {};
  }
  FileIdentity identity;
  MACO_ASSIGN(identity, IdentityOfPath(path));
  spec.read_only_inside.push_back({path, identity});
  return CheckMounts(spec);
}

// What is to be protected besides what the scan itself names.
struct Links {
  struct Link {
    std::string holder;
    std::string target;
  };
  std::vector<Link> links;
  std::vector<std::string> state_roots;
};

void FollowCommonDir(const std::string& git_dir, Links& out) {
  if (auto common = CommonDirOf(git_dir)) {
    out.state_roots.push_back(*common + "/" + kStateRootName);
    out.links.push_back({git_dir + "/commondir", *std::move(common)});
  }
}

Links FollowLinks(const RootScan& scan) {
  Links out;
  for (const auto& file : scan.seen.git_files) {
    if (auto git_dir = GitDirOf(file)) {
      out.state_roots.push_back(*git_dir + "/" + kStateRootName);
      FollowCommonDir(*git_dir, out);
      out.links.push_back({file, *std::move(git_dir)});
    }
  }
  for (const auto* directories : {&scan.git_entries, &scan.git_directories}) {
    for (const auto& directory : *directories) {
      FollowCommonDir(directory, out);
    }
  }
  return out;
}

// WT-09: what git executes, and what leads it elsewhere, stays as it was made: all of these exist.
Result<void> ProtectSettings(const std::string& git_dir, RunSpec& spec) {
  for (const char* name : {"/config", "/commondir", "/hooks", "/info", "/objects/info"}) {
    MACO_TRY(MakeReadOnly(git_dir + name, spec));
  }
  return {};
}

// The private lane's own git directory. No path at all, what a missing one resolves to, is never
// it.
bool IsOwnGitDir(const RunSpec& spec, const std::string& path) {
  return !spec.own_git_dir.empty() && path == spec.own_git_dir;
}

bool HoldsKey(const std::string& state_root) {
  const auto key = IdentityOfPath(state_root + "/key");
  return key.has_value();
}

}  // namespace

Result<void> ProtectPath(const std::string& path, const std::string& holder, RunSpec& spec) {
  WalkedPath end;
  MACO_ASSIGN(end, WalkFixedPath(spec, path, holder));
  if (!end.exists || !IsWritableInside(spec, end.path)) {
    return {};
  }
  for (const auto& root : spec.roots) {
    if (root.scan && root.writable && PathIsWithin(root.path, end.path)) {
      return Fail(Code::kRefused,
                  "'" + holder + "' leads to '" + end.path +
                      "', which has to stay read-only, and root '" + root.path + "' lies in it",
                  "name a directory beside it with --write");
    }
  }
  return MakeReadOnly(end.path, spec);
}

Result<void> ProtectRepositories(const RootScan& scan, RunSpec& spec) {
  for (const auto& path : scan.git_entries) {
    if (IsOwnGitDir(spec, path)) {
      MACO_TRY(ProtectSettings(path, spec));
    } else {
      MACO_TRY(MakeReadOnly(path, spec));
    }
  }
  for (const auto& path : scan.git_directories) {
    MACO_TRY(ProtectPath(path, path + "/HEAD", spec));
  }
  const Links links = FollowLinks(scan);
  for (const auto& link : links.links) {
    if (!IsOwnGitDir(spec, Canonical(link.target))) {
      MACO_TRY(ProtectPath(link.target, link.holder, spec));
    }
  }
  std::vector<std::string> state_roots = scan.seen.state_roots;
  std::ranges::copy_if(links.state_roots, std::back_inserter(state_roots), HoldsKey);
  MACO_TRY(HideStateRoots(spec, state_roots));
  return CheckMounts(spec);
}

Result<void> CheckRepositories(const RootScan& scan, const RunSpec& spec) {
  const auto fresh = [](const std::string& path) {
    return Fail(Code::kRefused, "'" + path + "' appeared while the run was set up", "try again");
  };
  for (const auto* paths : {&scan.git_entries, &scan.git_directories}) {
    for (const auto& path : *paths) {
      if (!IsOwnGitDir(spec, path) && IsWritableInside(spec, path)) {
        return fresh(path);
      }
    }
  }
  for (const auto& link : FollowLinks(scan).links) {
    WalkedPath end;
    MACO_ASSIGN(end, WalkFixedPath(spec, link.target, link.holder));
    if (end.exists && !IsOwnGitDir(spec, end.path) && IsWritableInside(spec, end.path)) {
      return fresh(end.path);
    }
  }
  for (const auto& path : scan.seen.state_roots) {
    if (!IsHidden(spec, path)) {
      return fresh(path);
    }
  }
  return {};
}

Result<void> HoldDirectoriesAbove(RunSpec& spec) {
  const auto is_writable_root = [&](const std::string& path) {
    return std::ranges::any_of(
        spec.roots, [&](const auto& root) { return root.writable && root.path == path; });
  };
  for (const auto& inside : spec.read_only_inside) {
    const std::string& path = inside.path;
    for (std::string above = path.substr(0, path.rfind('/'));
         !above.empty() && !is_writable_root(above); above = above.substr(0, above.rfind('/'))) {
      FileIdentity identity;
      MACO_ASSIGN(identity, IdentityOfPath(above));
      spec.binds.push_back({above, above, false, false});
      spec.roots.push_back({above, true, Directory(), identity, false});
      MACO_TRY(CheckMounts(spec));
    }
  }
  return {};
}

}  // namespace maco::run

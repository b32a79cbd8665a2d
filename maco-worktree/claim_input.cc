// The current directory as a prefix, then component by component.
// Contract: maco-worktree/claim_input.h.
#include "maco-worktree/claim_input.h"

#include <filesystem>

namespace maco::worktree {
namespace {

// An absolute path whose beginning is another name of the top, through links above it.
std::string BelowTop(const std::string& top, const std::string& path) {
  for (std::size_t slash = path.find('/', 1); path.starts_with('/');
       slash = path.find('/', slash + 1)) {
    std::error_code failed;
    if (std::filesystem::equivalent(path.substr(0, slash), top, failed) && !failed) {
      return top + (slash == std::string::npos ? "" : path.substr(slash));
    }
    if (slash == std::string::npos) {
      break;
    }
  }
  return path;
}

}  // namespace

Result<std::vector<std::string>> CanonicalPaths(const Place& place,
                                                const std::vector<std::string>& paths) {
  std::vector<std::string> out;
  if (paths.empty()) {
    return out;
  }
  if (place.repository.worktree.empty()) {
    return Fail(Code::kUnsupported, "a claim needs a working tree, and this repository is bare",
                "stand in a working tree of it");
  }
  Directory tree;
  MACO_ASSIGN(tree, Directory::OpenPath(place.repository.worktree));
  std::error_code ignored;
  const std::string here = std::filesystem::current_path(ignored).string();
  const std::string& top = place.repository.worktree;
  const std::string prefix = here.starts_with(top + "/") ? here.substr(top.size() + 1) : "";
  for (const auto& path : paths) {
    std::string canonical;
    MACO_ASSIGN(canonical, CanonicalClaimPath(tree, top, prefix, BelowTop(top, path)));
    out.push_back(std::move(canonical));
  }
  return out;
}

}  // namespace maco::worktree

// A walk that only looks.
// Contract: maco-prune/obstacle.h.
#include "maco-prune/obstacle.h"

#include <fcntl.h>
#include <linux/stat.h>
#include <sys/stat.h>

#include <string_view>

#include "libcommon/base/text.h"

namespace maco::prune {
namespace {

constexpr unsigned kMaxDepth = 16;
constexpr std::size_t kMaxNames = 1'000'000;

bool IsImmutable(const Directory& parent, const std::string& name) {
  struct statx status {};
  constexpr std::uint64_t kFixed = STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND;
  return statx(parent.fd(), name.c_str(), AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, 0, &status) == 0 &&
         (status.stx_attributes & kFixed) != 0;
}

std::string Look(const Directory& parent, const std::string& name, std::uint64_t mount,
                 unsigned depth) {
  const std::string it = "'" + EscapeControl(name) + "' ";
  const auto identity = parent.Stat(name);
  if (!identity) {
    return identity.error().code == Code::kNotFound ? "" : identity.error().message;
  }
  if (identity->mount_id != mount) {
    return it + "is another file system";
  }
  if (IsImmutable(parent, name)) {
    return it + "is immutable: chattr -i";
  }
  if (!S_ISDIR(identity->mode)) {
    const bool file = S_ISREG(identity->mode);
    return file && identity->links == 1 ? ""
           : file                       ? it + "has another name elsewhere"
                                        : it + "is no plain file";
  }
  const auto directory = parent.Open(name);
  const auto names = directory && depth < kMaxDepth
                         ? directory->List(kMaxNames)
                         : Result<std::vector<std::string>>(std::vector<std::string>());
  if (!names) {
    return names.error().message;
  }
  for (const auto& inner : *names) {
    if (auto found = Look(*directory, inner, mount, depth + 1); !found.empty()) {
      return found;
    }
  }
  return {};
}

}  // namespace

std::string FindObstacle(const Directory& quarantine, const std::string& name) {
  const auto identity = quarantine.Identity();
  return identity ? Look(quarantine, name, identity->mount_id, 0) : identity.error().message;
}

}  // namespace maco::prune

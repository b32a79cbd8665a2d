// Compares identities of directories, not names.
// Contract: libcommon/lane/lane_home.h.
#include "libcommon/lane/lane_home.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "libcommon/base/text.h"
#include "libcommon/lane/lane_registry.h"
#include "libcommon/os/bounded_read.h"

namespace maco {
namespace {

constexpr std::size_t kMaxPath = 8192;

}  // namespace

bool IsLaneDirectory(const Lane& lane, const std::string& path) {
  const auto identity = IdentityOfPath(path);
  return identity && S_ISDIR(identity->mode) && identity->inode == lane.inode;
}

Result<void> CheckLaneHome(const StateRoot& state, const Lane& lane) {
  const auto files = OpenLaneDirectory(state, lane.id);
  const auto alternates =
      files ? files->OpenFile(kLaneAlternates, O_RDONLY | O_NONBLOCK) : Fail(files.error());
  if (!alternates) {
    // Not made yet, or gone already.
    return alternates.error().code == Code::kNotFound ? Result<void>() : Fail(alternates.error());
  }
  std::string objects;
  MACO_ASSIGN(objects, ReadAll(alternates->get(), kMaxPath));
  objects = objects.substr(0, objects.find('\n'));
  struct stat ours {};
  struct stat theirs {};
  if (fstatat(state.dir().fd(), "../objects", &ours, 0) != 0) {
    return FailOs(errno, "stat", "objects");
  }
  if (stat(objects.c_str(), &theirs) != 0) {
    return Fail(Code::kInvalid,
                "the repository was moved since lane '" + lane.name + "' was made, from '" +
                    EscapeControl(objects) + "'",
                "git maco worktree repair " + lane.name);
  }
  if (ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino) {
    return Fail(Code::kRefused,
                "lane '" + lane.name + "' belongs to the repository with '" +
                    EscapeControl(objects) + "', and this is a copy of it",
                "go there; git maco worktree remove --discard " + lane.name +
                    " forgets it here and leaves its directory alone");
  }
  return {};
}

}  // namespace maco

// Where a lane belongs. Rows name places by absolute paths, and repositories are moved and copied:
// a copy must leave the lanes of its original alone, a moved one has to find its own again.
#pragma once

#include <string>

#include "libcommon/auth/state_root.h"
#include "libcommon/lane/lane_rows.h"

namespace maco {

// In the lane's directory of the state root: which objects its git reads, a path and a newline.
inline constexpr char kLaneAlternates[] = "gitdir/objects/info/alternates";

// Whether `path` is the directory that was made for the lane. By its inode alone: the number of a
// device may be another one after a reboot.
bool IsLaneDirectory(const Lane& lane, const std::string& path);

// Whether the lane is this repository's, by the objects that its files of ours name. Errors:
// kRefused (this is a copy, and the lane is the original's), kInvalid (the repository was moved
// since), kPermission, kIo.
Result<void> CheckLaneHome(const StateRoot& state, const Lane& lane);

}  // namespace maco

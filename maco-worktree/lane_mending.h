// What `repair` does to lanes: one that was half made, one whose repository was moved (WT-07).
// Errors: kRefused (the directory of the lane is not there), kInvalid (git's words), kIo,
// kPermission, those of the store.
#pragma once

#include "libcommon/auth/state_root.h"
#include "libcommon/lane/lane_rows.h"
#include "maco-worktree/place.h"

namespace maco::worktree {

// Removes what was made of a lane that was never ready. If its directory holds anything but files
// of the base, somebody works there already: then it is moved beside the lanes, and that is said.
Result<void> UndoCreation(const Place& place, const StateRoot& state, const Lane& lane);

// After the repository, or the directory of all lanes, was moved: writes anew what names the
// objects, lets git repair its links, and puts the row.
Result<void> BindToPlace(const Place& place, const StateRoot& state, const Lane& lane);

}  // namespace maco::worktree

// ListStores: the names of all stores of a repository, for `git maco status` and `journal list`.
// Contract: docs/formats/store.md.
#pragma once
#include <string>
#include <vector>

#include "libcommon/base/result.h"
#include "libcommon/store/store_directory.h"

namespace maco {

struct StoreList {
  std::vector<std::string> names;    // ascending; a store may be damaged, or not finished
  std::vector<std::string> foreign;  // names in `stores` that no store can have
};

// Empty if there is no `stores` yet. Errors: kPermission, kLimit (more than 4096 names), kIo.
Result<StoreList> ListStores(const StoreAccess& access);

}  // namespace maco

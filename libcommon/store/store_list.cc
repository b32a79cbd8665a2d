// Sorts the names in `stores`.
// Contract: libcommon/store/store_list.h.
#include "libcommon/store/store_list.h"

#include <algorithm>

#include "libcommon/store/store_name.h"

namespace maco {
namespace {

constexpr std::size_t kMaxNames = 4096;

}  // namespace

Result<StoreList> ListStores(const StoreAccess& access) {
  const auto stores = OpenStores(access);
  if (!stores) {
    if (stores.error().code == Code::kNotFound) {
      return StoreList{};
    }
    return Fail(stores.error());
  }
  std::vector<std::string> names;
  MACO_ASSIGN(names, stores->List(kMaxNames));
  std::ranges::sort(names);
  StoreList list;
  for (std::string& name : names) {
    if (name != kNamespaceLockName) {
      (IsStoreName(name) ? list.names : list.foreign).push_back(std::move(name));
    }
  }
  return list;
}

}  // namespace maco

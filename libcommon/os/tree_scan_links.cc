// The ledger of files with several names.
// Contract: libcommon/os/tree_scan.h.
#include "libcommon/os/tree_scan.h"

namespace maco {

void LinkLedger::Meet(const FileIdentity& identity, const std::string& path) {
  const auto [place, added] = missing_.try_emplace({identity.device, identity.inode});
  Entry& entry = place->second;
  entry.links = identity.links;
  if (++entry.met >= entry.links) {
    missing_.erase(place);
    return;
  }
  if (added) {
    const std::size_t name = path.rfind('/') + 1;  // npos + 1 is 0
    const std::string directory = path.substr(0, name);
    // The entries of a directory come one after the other.
    if (directories_.empty() || directories_.back() != directory) {
      directories_.push_back(directory);
    }
    entry.directory = directories_.size() - 1;
    entry.name = path.substr(name);
  }
}

Result<void> LinkLedger::Check() const {
  if (missing_.empty()) {
    return {};
  }
  const Entry& entry = missing_.begin()->second;
  return Fail(Code::kRefused,
              "'" + directories_[entry.directory] + entry.name +
                  "' is writable and has another name outside (hard link)",
              "copy the file onto itself, so that it has one name: cp -p FILE FILE.new && mv "
              "FILE.new FILE");
}

}  // namespace maco

// What a name referred to when we looked: device, inode, mount, kind, owner, links.
// Source: statx(2); STATX_MNT_ID since Linux 5.8.
#pragma once
#include <cstdint>

namespace maco {

struct FileIdentity {
  std::uint64_t device = 0;  // as in st_dev
  std::uint64_t inode = 0;
  std::uint64_t mount_id = 0;  // 0 when the kernel does not tell
  std::uint32_t mode = 0;      // type and permission bits
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::uint32_t links = 0;
  std::uint64_t size = 0;

  bool SameFile(const FileIdentity& other) const {
    return device == other.device && inode == other.inode;
  }
};

}  // namespace maco

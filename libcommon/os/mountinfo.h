// The mount table of a process, parsed strictly, with exact path resolution over it.
// Source: proc(5), /proc/PID/mountinfo. Bounds: 4 MiB, 65,536 mounts.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "libcommon/base/result.h"

namespace maco {

struct Mount {
  std::uint64_t id = 0;
  std::uint64_t parent = 0;
  std::uint64_t device = 0;  // as st_dev
  std::string root;          // the directory of the filesystem that is mounted
  std::string point;
  std::string options;        // per mount, comma separated
  std::string super_options;  // per filesystem
  std::string type;
  std::string source;

  bool ReadOnly() const;  // by either kind of options
  bool Has(std::string_view option) const;
};

inline constexpr std::size_t kMaxMountinfoBytes = 4UL << 20U;
inline constexpr std::size_t kMaxMounts = 65536;

class MountTable {
 public:
  // Errors: kInvalid (malformed, duplicate id), kLimit.
  static Result<MountTable> Parse(std::string_view text);

  const std::vector<Mount>& mounts() const { return mounts_; }

  // The mount that a walk of the absolute, normalized `path` ends on: the topmost one, as the
  // kernel resolves it. Null when the table has no root.
  const Mount* Covering(std::string_view path) const;

  // Every mount that can be reached by a path (is not hidden by a later mount).
  std::vector<const Mount*> Visible() const;

 private:
  void Index();
  std::vector<Mount> mounts_;
  std::optional<std::size_t> root_;  // the first mount of the walk
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> children_;  // by id of the parent
};

// Whether `path` is `ancestor` or lies below it, by components. Both absolute and normalized.
bool PathIsWithin(std::string_view path, std::string_view ancestor);

}  // namespace maco

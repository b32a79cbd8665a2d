// Parsing of mountinfo and walking of the mount tree.
// Contract: libcommon/os/mountinfo.h.
#include "libcommon/os/mountinfo.h"

#include <sys/sysmacros.h>

#include <optional>
#include <unordered_set>

#include "libcommon/base/text.h"

namespace maco {
namespace {

// Space, tab, newline, backslash and '#' come as three octal digits.
std::optional<std::string> Unescape(std::string_view text) {
  if (text.find('\\') == std::string_view::npos) {
    return std::string(text);
  }
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out.push_back(text[i]);
      continue;
    }
    if (text.size() - i < 4) {
      return std::nullopt;
    }
    unsigned value = 0;
    for (std::size_t k = 1; k <= 3; ++k) {
      const char c = text[i + k];
      if (c < '0' || c > '7') {
        return std::nullopt;
      }
      value = value * 8 + static_cast<unsigned>(c - '0');
    }
    if (value == 0 || value > 255) {
      return std::nullopt;
    }
    out.push_back(static_cast<char>(value));
    i += 3;
  }
  return out;
}

std::optional<std::uint64_t> ParseDevice(std::string_view text) {
  const auto parts = Split(text, ':');
  if (parts.size() != 2) {
    return std::nullopt;
  }
  const auto major_part = ParseUint(parts[0]);
  const auto minor_part = ParseUint(parts[1]);
  if (!major_part || !minor_part || *major_part > UINT32_MAX || *minor_part > UINT32_MAX) {
    return std::nullopt;
  }
  return makedev(static_cast<unsigned>(*major_part), static_cast<unsigned>(*minor_part));
}

std::optional<Mount> ParseLine(std::string_view line) {
  // 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
  const auto fields = Split(line, ' ');
  std::size_t dash = 6;
  while (dash < fields.size() && fields[dash] != "-") {
    ++dash;
  }
  if (fields.size() < 10 || dash + 4 != fields.size()) {
    return std::nullopt;
  }
  const auto id = ParseUint(fields[0]);
  const auto parent = ParseUint(fields[1]);
  const auto device = ParseDevice(fields[2]);
  auto root = Unescape(fields[3]);
  auto point = Unescape(fields[4]);
  auto type = Unescape(fields[dash + 1]);
  auto source = Unescape(fields[dash + 2]);
  auto super_options = Unescape(fields[dash + 3]);
  if (!id || !parent || !device || !root || !point || !type || !source || !super_options ||
      point->empty() || point->front() != '/') {
    return std::nullopt;
  }
  return Mount{*id,
               *parent,
               *device,
               std::move(*root),
               std::move(*point),
               std::string(fields[5]),
               std::move(*super_options),
               std::move(*type),
               std::move(*source)};
}

const std::vector<std::size_t> kNoChildren;

bool HasOption(std::string_view list, std::string_view option) {
  for (const auto field : Split(list, ',')) {
    if (field == option) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool Mount::Has(std::string_view option) const { return HasOption(options, option); }

bool Mount::ReadOnly() const { return Has("ro") || HasOption(super_options, "ro"); }

bool PathIsWithin(std::string_view path, std::string_view ancestor) {
  if (ancestor == "/") {
    return !path.empty() && path.front() == '/';
  }
  return path.starts_with(ancestor) &&
         (path.size() == ancestor.size() || path[ancestor.size()] == '/');
}

Result<MountTable> MountTable::Parse(std::string_view text) {
  if (text.size() > kMaxMountinfoBytes) {
    return Fail(Code::kLimit, "the mount table is larger than 4 MiB");
  }
  if (text.empty() || text.back() != '\n') {
    return Fail(Code::kInvalid, "the mount table is cut off");
  }
  if (text.find('\0') != std::string_view::npos) {
    return Fail(Code::kInvalid, "the mount table holds a zero byte");
  }
  text.remove_suffix(1);
  MountTable table;
  std::unordered_set<std::uint64_t> ids;
  for (const auto line : Split(text, '\n')) {
    auto mount = ParseLine(line);
    if (!mount || !ids.insert(mount->id).second) {
      return Fail(Code::kInvalid,
                  "the mount table has a malformed line '" + std::string(line) + "'");
    }
    if (table.mounts_.size() == kMaxMounts) {
      return Fail(Code::kLimit, "the mount table has more than 65536 mounts");
    }
    table.mounts_.push_back(std::move(*mount));
  }
  table.Index();
  return table;
}

void MountTable::Index() {
  std::unordered_set<std::uint64_t> ids;
  for (const auto& mount : mounts_) {
    ids.insert(mount.id);
  }
  for (std::size_t i = 0; i < mounts_.size(); ++i) {
    const Mount& mount = mounts_[i];
    if (mount.parent != mount.id) {
      children_[mount.parent].push_back(i);
    }
    // The first one at "/" whose parent is outside the table (or itself).
    if (!root_ && mount.point == "/" && (!ids.contains(mount.parent) || mount.parent == mount.id)) {
      root_ = i;
    }
  }
}

const Mount* MountTable::Covering(std::string_view path) const {
  if (!root_) {
    return nullptr;
  }
  const Mount* at = &mounts_[*root_];
  // Each step goes to the child that a walk meets first: the one with the shortest mount point.
  for (std::size_t steps = 0; steps <= mounts_.size(); ++steps) {
    const auto children = children_.find(at->id);
    const Mount* next = nullptr;
    for (const std::size_t child : children == children_.end() ? kNoChildren : children->second) {
      const Mount& mount = mounts_[child];
      if (PathIsWithin(path, mount.point) &&
          (next == nullptr || mount.point.size() < next->point.size())) {
        next = &mount;
      }
    }
    if (next == nullptr) {
      return at;
    }
    at = next;
  }
  return at;
}

std::vector<const Mount*> MountTable::Visible() const {
  std::vector<const Mount*> out;
  for (const auto& mount : mounts_) {
    if (Covering(mount.point) == &mount) {
      out.push_back(&mount);
    }
  }
  return out;
}

}  // namespace maco

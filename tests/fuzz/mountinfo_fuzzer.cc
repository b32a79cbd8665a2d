// Any text as a mount table: what is accepted can be written again, and paths resolve as by a walk
// that looks at every mount at every step.
// Contract under test: libcommon/os/mountinfo.h, proc(5).
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>

#include "libcommon/base/byte_codec.h"
#include "libcommon/os/mountinfo.h"

namespace {

using maco::Mount;
using maco::MountTable;

void Require(bool ok) {
  if (!ok) {
    std::abort();
  }
}

// As the kernel writes it.
std::string Escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || c == '\\' || c == '#' || byte >= 0x7F) {
      out.push_back('\\');
      out.push_back(static_cast<char>('0' + (byte >> 6U)));
      out.push_back(static_cast<char>('0' + (byte >> 3U & 7U)));
      out.push_back(static_cast<char>('0' + (byte & 7U)));
    } else {
      out.push_back(c);
    }
  }
  return out;
}

std::string Line(const Mount& mount) {
  const std::uint64_t major_part =
      (mount.device >> 32U & 0xFFFFF000U) | (mount.device >> 8U & 0xFFFU);
  const std::uint64_t minor_part = (mount.device >> 12U & 0xFFFFFF00U) | (mount.device & 0xFFU);
  return std::to_string(mount.id) + " " + std::to_string(mount.parent) + " " +
         std::to_string(major_part) + ":" + std::to_string(minor_part) + " " + Escaped(mount.root) +
         " " + Escaped(mount.point) + " " + mount.options + " - " + Escaped(mount.type) + " " +
         Escaped(mount.source) + " " + Escaped(mount.super_options) + "\n";
}

bool Same(const Mount& a, const Mount& b) {
  return a.id == b.id && a.parent == b.parent && a.device == b.device && a.root == b.root &&
         a.point == b.point && a.options == b.options && a.super_options == b.super_options &&
         a.type == b.type && a.source == b.source;
}

const Mount* WalkRoot(const MountTable& table) {
  std::set<std::uint64_t> ids;
  for (const auto& mount : table.mounts()) {
    ids.insert(mount.id);
  }
  for (const auto& mount : table.mounts()) {
    if (mount.point == "/" && (!ids.contains(mount.parent) || mount.parent == mount.id)) {
      return &mount;
    }
  }
  return nullptr;
}

const Mount* Walk(const MountTable& table, const std::string& path) {
  const Mount* at = WalkRoot(table);
  for (std::size_t steps = 0; at != nullptr && steps <= table.mounts().size(); ++steps) {
    const Mount* next = nullptr;
    for (const auto& mount : table.mounts()) {
      if (mount.parent == at->id && &mount != at && maco::PathIsWithin(path, mount.point) &&
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto table = MountTable::Parse(maco::AsText({data, size}));
  constexpr std::size_t kMaxWalked = 300;  // the walk costs the square of it
  if (!table || table->mounts().size() > kMaxWalked) {
    return 0;
  }
  std::string text;
  for (const auto& mount : table->mounts()) {
    text += Line(mount);
    Require(table->Covering(mount.point) == Walk(*table, mount.point));
  }
  Require(table->Covering("/") == Walk(*table, "/"));
  const auto again = MountTable::Parse(text);
  Require(again && again->mounts().size() == table->mounts().size());
  for (std::size_t i = 0; i < again->mounts().size(); ++i) {
    Require(Same(again->mounts()[i], table->mounts()[i]));
  }
  for (const Mount* mount : table->Visible()) {
    Require(table->Covering(mount->point) == mount);
  }
  return 0;
}

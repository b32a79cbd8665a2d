// Digests of config, hooks and info.
// Contract: maco-run/record/administrative.h.
#include "maco-run/record/administrative.h"

#include <fcntl.h>

#include <set>

#include "libcommon/auth/mac.h"
#include "libcommon/base/text.h"

namespace maco::run {
namespace {

constexpr std::size_t kMaxNames = 512;
constexpr std::uint64_t kMaxFileBytes = 1UL << 20U;

std::string DigestOf(const Directory& directory, const std::string& name) {
  const auto file = directory.OpenFile(name, O_RDONLY | O_NONBLOCK);
  const auto digest = file ? Sha256OfFile(file->get(), kMaxFileBytes) : Fail(file.error());
  return digest ? ToHex(*digest) : "unreadable";
}

}  // namespace

AdministrativeFiles DigestAdministrativeFiles(const Directory& common_dir) {
  AdministrativeFiles out;
  out["config"] = DigestOf(common_dir, "config");
  for (const char* folder : {"hooks", "info"}) {
    const auto directory = common_dir.Open(folder);
    const auto names = directory ? directory->List(kMaxNames) : Fail(directory.error());
    if (!names) {
      out[folder] = "unreadable";
      continue;
    }
    for (const auto& name : *names) {
      out[std::string(folder) + "/" + EscapeControl(name)] = DigestOf(*directory, name);
    }
  }
  return out;
}

Json ChangedFiles(const AdministrativeFiles& before, const AdministrativeFiles& after) {
  std::set<std::string> changed;
  for (const auto* side : {&before, &after}) {
    const auto& other = side == &before ? after : before;
    for (const auto& [name, digest] : *side) {
      const auto found = other.find(name);
      if (found == other.end() || found->second != digest) {
        changed.insert(name);
      }
    }
  }
  return changed;
}

}  // namespace maco::run

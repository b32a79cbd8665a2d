// Translation of paths, and the links behind it.
// Contract: maco-run/spec/alias.h.
#include "maco-run/spec/alias.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "libcommon/base/text.h"
#include "libcommon/os/mountinfo.h"
#include "maco-run/spec/run_spec.h"

namespace maco::run {
namespace {

constexpr std::size_t kMaxLinks = 1000;

std::string RuntimeDirectory() { return "/run/user/" + std::to_string(geteuid()); }
std::string LinksName(const std::string& run_id) { return "maco-run-" + run_id; }

const PathAlias* Innermost(const RunSpec& spec, const std::string& path) {
  const PathAlias* found = nullptr;
  for (const auto& alias : spec.aliases) {
    if (PathIsWithin(path, alias.outside) &&
        (found == nullptr || alias.outside.size() > found->outside.size())) {
      found = &alias;
    }
  }
  return found;
}

}  // namespace

bool IsPlainPath(const std::string& path) { return EscapeControl(path) == path; }

void ChooseAliases(RunSpec& spec) {
  std::vector<std::string> paths;
  for (const auto& root : spec.roots) {
    paths.push_back(root.path);
  }
  std::ranges::sort(paths, {}, &std::string::size);  // outer ones first
  for (const auto& path : paths) {
    if (IsPlainPath(InsidePath(spec, path))) {
      continue;
    }
    const std::string number = std::to_string(spec.aliases.size());
    spec.aliases.push_back({path, "/run/maco/root-" + number,
                            RuntimeDirectory() + "/" + LinksName(spec.id) + "/" + number});
  }
}

std::string InsidePath(const RunSpec& spec, const std::string& path) {
  const PathAlias* alias = Innermost(spec, path);
  return alias == nullptr ? path : alias->inside + path.substr(alias->outside.size());
}

std::string SourcePath(const RunSpec& spec, const std::string& path) {
  const PathAlias* alias = Innermost(spec, path);
  return alias == nullptr ? path : alias->link + path.substr(alias->outside.size());
}

Result<void> CheckNames(const RunSpec& spec) {
  for (const auto& alias : spec.aliases) {
    for (const auto& root : spec.roots) {
      // Inside, it would be writable under another name only, and not in its own place.
      if (root.path != alias.outside && PathIsWithin(alias.outside, root.path)) {
        return Fail(Code::kRefused,
                    "root '" + alias.outside +
                        "' holds control bytes or is not UTF-8, and lies in another root",
                    "rename it, or name the outer one only");
      }
    }
  }
  std::vector<std::string> paths;
  for (const auto* binds : {&spec.binds, &spec.read_only_binds}) {
    for (const auto& bind : *binds) {
      paths.push_back(bind.source);
      paths.push_back(bind.target);
    }
  }
  for (const auto& inside : spec.read_only_inside) {
    paths.push_back(inside.path);
  }
  for (const auto& mask : spec.masks) {
    if (!mask.by_tmpfs) {
      paths.push_back(mask.path);
    }
  }
  for (const auto& directory : spec.private_directories) {
    paths.push_back(directory.path);
  }
  for (const auto& path : paths) {
    if (!IsPlainPath(SourcePath(spec, path))) {
      return Fail(
          Code::kRefused,
          "'" + path + "' holds control bytes or is not UTF-8, so systemd cannot protect it",
          "rename it, or run in a directory without it");
    }
  }
  return {};
}

Result<AliasLinks> AliasLinks::Make(const RunSpec& spec) {
  AliasLinks links;
  if (spec.aliases.empty()) {
    return links;
  }
  Directory runtime;
  MACO_ASSIGN(runtime, Directory::OpenPath(RuntimeDirectory()));
  Directory own;
  MACO_ASSIGN(own, runtime.Create(LinksName(spec.id), 0700));
  links.run_id_ = spec.id;
  for (const auto& alias : spec.aliases) {
    const std::string name = alias.link.substr(alias.link.rfind('/') + 1);
    if (symlinkat(alias.outside.c_str(), own.fd(), name.c_str()) != 0) {
      return FailOs(errno, "make a link for", alias.outside);
    }
  }
  return links;
}

AliasLinks::AliasLinks(AliasLinks&& other) noexcept : run_id_(std::exchange(other.run_id_, {})) {}

AliasLinks::~AliasLinks() {
  if (!run_id_.empty()) {
    RemoveLeftover(run_id_);
  }
}

void AliasLinks::RemoveLeftover(const std::string& run_id) {
  const auto runtime = Directory::OpenPath(RuntimeDirectory());
  const auto own = runtime ? runtime->Open(LinksName(run_id)) : Fail(runtime.error());
  if (!own) {
    return;  // the usual case: no root needed one
  }
  const auto names = own->List(kMaxLinks);
  for (const auto& name : names ? *names : std::vector<std::string>()) {
    [[maybe_unused]] const auto gone = own->Unlink(name);
  }
  [[maybe_unused]] const auto gone = runtime->RemoveDirectory(LinksName(run_id));
}

}  // namespace maco::run

// Paths in configuration, resolved as git does.
// Contract: maco-run/spec/git_settings.h. Source: git-config(1), "Includes", core.hooksPath.
#include "maco-run/spec/git_settings.h"

#include <optional>
#include <set>
#include <string>

#include "maco-run/spec/path_walk.h"
#include "maco-run/spec/repositories.h"

namespace maco::run {
namespace {

bool IsInclude(const std::string& key) {
  return key == "include.path" || (key.starts_with("includeif.") && key.ends_with(".path"));
}

class Settings {
 public:
  Settings(const Surroundings& where, RunSpec& spec) : where_(where), spec_(spec) {}

  Result<void> Protect(const std::vector<ConfigValue>& values) {
    std::set<std::string> files;
    for (const auto& value : values) {
      if (!value.file.empty()) {
        files.insert(FileOf(value));
      }
    }
    for (const auto& file : files) {
      // Those of the repository itself are read-only already.
      MACO_TRY(ProtectPath(file, where_.common_dir + "/config", spec_));
    }
    for (const auto& value : values) {
      if (const auto path = PathIn(value)) {
        MACO_TRY(ProtectPath(*path, value.file.empty() ? value.key : FileOf(value), spec_));
      }
    }
    return {};
  }

 private:
  // git names files relative to the top of the worktree, or to where it stands when there is none.
  std::string FileOf(const ConfigValue& value) const {
    if (value.file.starts_with('/')) {
      return value.file;
    }
    for (const auto* base : {&where_.worktree, &where_.current_directory, &where_.git_dir}) {
      const std::string path = *base + "/" + value.file;
      if (!base->empty() && !Canonical(path).empty()) {
        return path;
      }
    }
    return where_.current_directory + "/" + value.file;
  }

  // The path that a setting names, if it is one of those that count.
  std::optional<std::string> PathIn(const ConfigValue& value) const {
    const bool hooks = value.key == "core.hookspath";
    if (value.value.empty() || (!hooks && !IsInclude(value.key))) {
      return std::nullopt;
    }
    if (value.value.starts_with('/')) {
      return value.value;
    }
    if (value.value.starts_with("~/")) {
      return where_.home + value.value.substr(1);
    }
    if (hooks) {
      return (where_.worktree.empty() ? where_.git_dir : where_.worktree) + "/" + value.value;
    }
    const std::string file = FileOf(value);
    return value.file.empty() ? std::nullopt
                              : std::optional(file.substr(0, file.rfind('/')) + "/" + value.value);
  }

  const Surroundings& where_;
  RunSpec& spec_;
};

}  // namespace

Result<void> ProtectGitSettings(const std::vector<ConfigValue>& values,
                                const Surroundings& surroundings, RunSpec& spec) {
  return Settings(surroundings, spec).Protect(values);
}

}  // namespace maco::run

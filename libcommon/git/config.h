// Settings from Git configuration, with the scope that each value comes from.
// Source: git-config(1), "SCOPES" and "protected configuration".
#pragma once
#include <string>
#include <vector>

#include "libcommon/base/result.h"
#include "libcommon/git/repository.h"

namespace maco {

struct ConfigValue {
  std::string key;        // as git prints it: section and variable in lower case
  std::string value;      // empty too if the variable has none
  std::string scope;      // "system", "global", "command", "local" or "worktree"
  std::string file = {};  // that it stands in, as git names it, perhaps relative to the top of the
                          // worktree; empty if it stands in none, or was not asked for

  // Whether the operator wrote it. A repository's own configuration may come with the repository.
  bool IsProtected() const { return scope != "local" && scope != "worktree"; }
};

// Every value whose key starts with `prefix` ("maco.run."), in git's order: the last one counts.
// The caller's GIT_CONFIG_* and `git -c` count, as for git itself. `directory` as in
// FindRepository. Errors: kInvalid (git cannot read a configuration file), kUnsupported (no git),
// kTimeout, kLimit, kIo.
Result<std::vector<ConfigValue>> ReadConfig(const std::string& prefix,
                                            const std::string& directory = {});

struct ConfiguredRepository {
  Repository repository;
  std::vector<ConfigValue> config;  // every value there is, with its file
};

// Both of the current directory, in the time of one. Errors: those of FindRepository first.
Result<ConfiguredRepository> FindConfiguredRepository();

// Every value there is, with its file, by one git as above.
Result<std::vector<ConfigValue>> ReadAllConfig(const std::string& directory = {});

}  // namespace maco

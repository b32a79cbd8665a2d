// The git executable that we run, and the environment it gets: fixed places, nothing inherited.
// Sources: git(1) "Environment Variables", git-rev-parse(1) --local-env-vars.
#pragma once
#include <string>
#include <vector>

#include "libcommon/base/result.h"

namespace maco {

// The absolute path of git, from a fixed list; PATH is not asked. Errors: kUnsupported (none).
Result<std::string> FindGitProgram();

// The environment for a git that looks something up: a fixed locale and search path, no prompts, no
// pager, no optional locks, no replace objects, literal pathspecs, and of ours only HOME and
// XDG_CONFIG_HOME (where git keeps safe.directory). No GIT_* variable of the caller is in it.
std::vector<std::string> CleanGitEnvironment();

enum class GitVariables { kDiscovery, kDiscoveryAndConfig };

// "NAME=value" of those variables of our caller that say where the repository is (GIT_DIR,
// GIT_WORK_TREE, GIT_COMMON_DIR, GIT_CEILING_DIRECTORIES, GIT_DISCOVERY_ACROSS_FILESYSTEM), and, if
// asked, of those that carry or choose configuration (`git -c`, GIT_CONFIG_*).
std::vector<std::string> CallersGitVariables(GitVariables which);

}  // namespace maco

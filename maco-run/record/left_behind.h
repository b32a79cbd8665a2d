// Repositories that a run has made in its writable roots: git obeys their configuration (ADM-01),
// and who made their keys knows them (JRN-10).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "libcommon/auth/json.h"
#include "libcommon/base/result.h"
#include "maco-run/spec/root_scan.h"

namespace maco::run {

struct LeftBehind {
  std::vector<std::string> repositories;  // entries named ".git", and git directories of any name
  std::vector<std::string> state_roots;
};

// What the later scan has and the earlier one has not.
LeftBehind CompareScans(const RootScan& before, const RootScan& after);

// The evidence's measurements.new_repositories; an error is recorded as such.
Json DescribeNewRepositories(const Result<LeftBehind>& left);

// The evidence's observations.end.new_state_roots: their number, or that nobody could look.
Json CountNewStateRoots(const Result<LeftBehind>& left);

// One line for people, if there is something to say.
std::optional<std::string> NewRepositoriesNote(const Result<LeftBehind>& left);

}  // namespace maco::run

// The table itself, and look-ups in it.
// Contract: git-maco/tool_table.h.
#include "git-maco/tool_table.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <vector>

#include "libcommon/base/exit_code.h"

namespace maco {
namespace {

// maco-run's own failures must not look like a status of the command that it was to run.
constexpr std::array kTools = {
    Tool{"init", "maco-init", "create the repository's key and identity", kExitFatal},
    Tool{"doctor", "maco-doctor", "check this host and this repository", kExitFatal},
    Tool{"status", "maco-status", "show lanes, runs and effects that need attention", kExitFatal},
    Tool{"run", "maco-run", "run a command confined, with proof", kExitNotStarted},
    Tool{"journal", "maco-journal", "show, verify and repair authenticated journals", kExitFatal},
    Tool{"worktree", "maco-worktree", "claim lanes, capture and apply changes", kExitFatal},
    Tool{"effect", "maco-effect", "push and publish exactly once", kExitFatal},
    Tool{"prune", "maco-prune", "delete old finalized runs", kExitFatal},
};

// Levenshtein distance, one row at a time.
std::size_t Distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::span<const Tool> Tools() { return kTools; }

const Tool* FindTool(std::string_view verb) {
  const auto* found = std::ranges::find(kTools, verb, &Tool::verb);
  return found == kTools.end() ? nullptr : found;
}

std::string_view SimilarVerb(std::string_view verb) {
  constexpr std::size_t kLongest = 32;  // nothing longer is a typing error
  constexpr std::size_t kClose = 3;
  if (verb.size() > kLongest) {
    return {};
  }
  const auto* nearest = std::ranges::min_element(
      kTools, {}, [verb](const Tool& tool) { return Distance(verb, tool.verb); });
  return Distance(verb, nearest->verb) < std::min(kClose, nearest->verb.size())
             ? nearest->verb
             : std::string_view();
}

}  // namespace maco

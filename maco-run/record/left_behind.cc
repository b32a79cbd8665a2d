// Comparison of two scans, and its words.
// Contract: maco-run/record/left_behind.h.
#include "maco-run/record/left_behind.h"

#include <algorithm>
#include <iterator>

#include "libcommon/base/text.h"
#include "maco-run/record/judge.h"

namespace maco::run {
namespace {

constexpr std::size_t kMaxPaths = 64;  // in the evidence, of each kind

void AddNew(const std::vector<std::string>& before, const std::vector<std::string>& after,
            std::vector<std::string>& out) {
  std::ranges::set_difference(after, before, std::back_inserter(out));
}

Json Bounded(const std::vector<std::string>& paths) {
  Json out = Json::array();
  for (std::size_t i = 0; i < std::min(paths.size(), kMaxPaths); ++i) {
    out.push_back(EscapeControl(paths[i]));
  }
  return out;
}

// Where git would be run to meet it.
std::string PlaceOf(const std::string& repository) {
  constexpr std::string_view kEntry = "/.git";
  return repository.ends_with(kEntry) ? repository.substr(0, repository.size() - kEntry.size())
                                      : repository;
}

}  // namespace

LeftBehind CompareScans(const RootScan& before, const RootScan& after) {
  LeftBehind left;
  AddNew(before.git_entries, after.git_entries, left.repositories);
  AddNew(before.git_directories, after.git_directories, left.repositories);
  AddNew(before.seen.state_roots, after.seen.state_roots, left.state_roots);
  return left;
}

Json DescribeNewRepositories(const Result<LeftBehind>& left) {
  if (!left) {
    return {{"looked_at", false}, {"why", EscapeControl(left.error().message)}};
  }
  return {{"looked_at", true},
          {"paths", Bounded(left->repositories)},
          {"state_roots", Bounded(left->state_roots)},
          {"cut", left->repositories.size() > kMaxPaths || left->state_roots.size() > kMaxPaths}};
}

Json CountNewStateRoots(const Result<LeftBehind>& left) {
  return left ? Json(std::uint64_t{left->state_roots.size()}) : Json(kNotLookedAt);
}

std::optional<std::string> NewRepositoriesNote(const Result<LeftBehind>& left) {
  if (!left) {
    return "it was not looked at whether the run left Git repositories: " +
           EscapeControl(left.error().message);
  }
  const auto& found = left->repositories.empty() ? left->state_roots : left->repositories;
  if (found.empty()) {
    return std::nullopt;
  }
  const std::string others =
      found.size() == 1 ? "" : " and in " + std::to_string(found.size() - 1) + " other places";
  return "the run left a Git repository in '" + EscapeControl(PlaceOf(found.front())) + "'" +
         others + ": git run there, or in a repository around it, obeys its configuration";
}

}  // namespace maco::run

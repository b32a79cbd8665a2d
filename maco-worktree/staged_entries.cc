// diff-index, and the documents of the candidates that were applied here.
// Contract: maco-worktree/staged_entries.h.
#include "maco-worktree/staged_entries.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <tuple>

#include "libcommon/base/text.h"
#include "maco-worktree/candidate_document.h"
#include "maco-worktree/claim_rules.h"
#include "maco-worktree/lane_git.h"

namespace maco::worktree {
namespace {

// ":old_mode new_mode old_oid new_oid status", then the path.
std::vector<Staged> ReadDiff(const std::vector<std::string>& fields) {
  std::vector<Staged> out;
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
    const auto words = Split(fields[i], ' ');
    const bool sound = words.size() == 5;
    out.push_back(
        {fields[i + 1], std::string(sound ? words[1] : ""), std::string(sound ? words[3] : "")});
  }
  return out;
}

// "mode oid stage TAB path".
std::vector<Staged> ReadEntries(const std::vector<std::string>& fields) {
  std::vector<Staged> out;
  for (const auto& line : fields) {
    const std::size_t tab = line.find('\t');
    const auto words = Split(std::string_view(line).substr(0, tab), ' ');
    if (tab != std::string::npos && words.size() == 3) {
      out.push_back({line.substr(tab + 1), std::string(words[0]), std::string(words[1])});
    }
  }
  return out;
}

}  // namespace

Result<std::vector<Staged>> StagedEntries(const Place& place) {
  const std::string& git_dir = place.repository.git_dir;
  std::string index;
  if (const char* variable = getenv("GIT_INDEX_FILE"); variable != nullptr) {
    // git counts it from the top of the working tree, where hooks run.
    index = (std::filesystem::path(place.repository.worktree) / variable).string();
  }
  const auto head = AskRepositoryGit(git_dir, {"rev-parse", "--verify", "--quiet", "HEAD"});
  std::vector<std::string> ask{"ls-files", "-z", "--stage"};
  if (head) {
    ask = {"diff-index",    "--cached", "--raw",
           "--no-abbrev",   "-z",       "--no-renames",
           "--no-ext-diff", *head,      "--ignore-submodules=none"};
  }
  SpawnResult result;
  MACO_ASSIGN(result, RunRepositoryGit(git_dir, ask, std::nullopt, index));
  if (result.exit_status != 0 || result.signal != 0) {
    return Fail(GitFailure(ask.front(), result));
  }
  const auto fields = ZeroFields(result.output);
  return head ? ReadDiff(fields) : ReadEntries(fields);
}

Result<std::vector<std::string>> PathsNotApplied(const Place& place, const StateRoot& state,
                                                 const LaneTable& table,
                                                 const std::vector<Staged>& staged) {
  // By lane: path, mode and oid of what it has put here.
  std::map<std::string, std::vector<std::tuple<std::string, std::string, std::string>>> applied;
  std::vector<std::string> out;
  for (const auto& entry : staged) {
    const Claim* owner = OwnerOf(table, entry.path, place.letters);
    if (owner == nullptr) {
      out.push_back(entry.path);
      continue;
    }
    const auto [known, first] = applied.try_emplace(owner->lane_id);
    for (const auto& [id, row] : table.candidates) {
      if (!first || row.lane_id != owner->lane_id || row.state != "applied" ||
          row.applied_to != place.repository.worktree) {
        continue;
      }
      Directory files;
      MACO_ASSIGN(files, OpenLaneDirectory(state, row.lane_id));
      CandidateDocument document;
      MACO_ASSIGN(document, ReadCandidate(state, files, row));
      for (const auto& change : document.changes) {
        known->second.emplace_back(change.path, change.new_mode, change.new_oid);
      }
    }
    if (std::ranges::find(known->second, std::tuple(entry.path, entry.mode, entry.oid)) ==
        known->second.end()) {
      out.push_back(entry.path);
    }
  }
  return out;
}

}  // namespace maco::worktree

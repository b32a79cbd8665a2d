// First what lies at the top of each new directory, then what is left: one that is left out need
// not be asked about file by file.
// Contract: maco-worktree/ignore_rules.h.
#include "maco-worktree/ignore_rules.h"

#include "libcommon/base/text.h"

namespace maco::worktree {

Result<IgnoreRules> IgnoreRules::Ask(const LaneGit& git, const LaneGit::Call& call,
                                     const std::vector<Seen>& fresh) {
  IgnoreRules rules;
  std::vector<std::string> first;
  std::vector<std::string> rest;
  std::string above;  // the new directory that the following ones are in
  for (const auto& seen : fresh) {
    const bool below = !above.empty() && seen.path.starts_with(above);
    (below ? rest : first).push_back(seen.path);
    if (!below && seen.path.ends_with('/')) {
      above = seen.path;
    }
  }
  MACO_TRY(rules.AskAbout(git, call, first));
  std::erase_if(rest, [&rules](const std::string& path) { return rules.Covers(path); });
  MACO_TRY(rules.AskAbout(git, call, rest));
  // One directory stands for all in it.
  std::erase_if(rules.paths_, [&rules](const std::string& path) {
    const std::size_t slash = path.rfind('/', path.size() - 2);
    return path.size() > 1 && slash != std::string::npos && rules.Covers(path.substr(0, slash + 1));
  });
  return rules;
}

Result<void> IgnoreRules::AskAbout(const LaneGit& git, LaneGit::Call call,
                                   const std::vector<std::string>& paths) {
  if (paths.empty()) {
    return {};
  }
  // Magic of path names is off by a prefix instead: this command takes no other way.
  constexpr std::string_view kHere = "./";
  std::string question;
  for (const auto& path : paths) {
    question += kHere;
    question += std::string_view(path).substr(0, path.size() - (path.ends_with('/') ? 1 : 0));
    question += '\0';
  }
  call.input = std::move(question);
  call.environment = {"GIT_LITERAL_PATHSPECS=0"};
  SpawnResult answer;
  MACO_ASSIGN(answer, git.Run({"check-ignore", "--stdin", "-z", "--no-index"}, call));
  if (answer.signal != 0 || answer.exit_status > 1) {  // 1: none of them
    return Fail(GitFailure("check-ignore", answer));
  }
  std::set<std::string> named;
  for (const auto& field : ZeroFields(answer.output)) {
    named.insert(field.substr(std::min(field.size(), kHere.size())));
  }
  for (const auto& path : paths) {
    const bool directory = path.ends_with('/');
    if (named.count(directory ? path.substr(0, path.size() - 1) : path) != 0) {
      paths_.insert(path);
    }
  }
  return {};
}

bool IgnoreRules::Covers(const std::string& path) const {
  for (std::size_t slash = path.find('/'); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    if (paths_.count(path.substr(0, slash + 1)) != 0) {
      return true;
    }
  }
  return paths_.count(path) != 0;
}

}  // namespace maco::worktree

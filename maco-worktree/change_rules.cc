// Rules by name, by mode, and by the target of links.
// Contract: maco-worktree/change_rules.h.
#include "maco-worktree/change_rules.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>

#include "libcommon/base/text.h"
#include "maco-worktree/claim_rules.h"

namespace maco::worktree {
namespace {

constexpr std::string_view kLink = "120000";
constexpr std::string_view kSubmodule = "160000";

std::string Lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

struct NameRisk {
  std::string_view name;  // of the last component; with a slash at its end: of a directory
  std::string_view risk;
};

constexpr std::array kNameRisks = {
    NameRisk{".gitattributes", "attributes: they change how git reads other files"},
    NameRisk{".gitignore", "ignore rules: they hide files from a capture"},
    NameRisk{".lfsconfig", "settings of git-lfs"},
    NameRisk{".mailmap", "names of authors"},
    NameRisk{".worktreeinclude", "which ignored files lanes get"},
    NameRisk{".pre-commit-config.yaml", "hooks"},
    NameRisk{"lefthook.yml", "hooks"},
    NameRisk{".husky/", "hooks"},
    NameRisk{".githooks/", "hooks"},
    NameRisk{".github/", "CI"},
    NameRisk{".circleci/", "CI"},
    NameRisk{".gitea/", "CI"},
    NameRisk{".forgejo/", "CI"},
    NameRisk{".gitlab-ci.yml", "CI"},
    NameRisk{"jenkinsfile", "CI"},
    NameRisk{"azure-pipelines.yml", "CI"},
    NameRisk{".drone.yml", "CI"},
    NameRisk{".travis.yml", "CI"},
    NameRisk{".envrc", "run by shells that enter the directory"},
    NameRisk{".vscode/", "run by editors"},
    NameRisk{".idea/", "run by editors"},
    NameRisk{".devcontainer/", "run by editors"},
    NameRisk{"package-lock.json", "lock file"},
    NameRisk{"yarn.lock", "lock file"},
    NameRisk{"pnpm-lock.yaml", "lock file"},
    NameRisk{"cargo.lock", "lock file"},
    NameRisk{"poetry.lock", "lock file"},
    NameRisk{"uv.lock", "lock file"},
    NameRisk{"go.sum", "lock file"},
    NameRisk{"gemfile.lock", "lock file"},
    NameRisk{"composer.lock", "lock file"},
    NameRisk{"flake.lock", "lock file"},
};

std::string RiskOfName(const std::string& path) {
  const std::string lower = Lower(path);
  const auto components = Split(lower, '/');
  for (const auto& [name, risk] : kNameRisks) {
    const bool directory = name.ends_with('/');
    const std::string_view plain = directory ? name.substr(0, name.size() - 1) : name;
    for (std::size_t i = 0; i < components.size(); ++i) {
      const bool last = i + 1 == components.size();
      if (components[i] == plain && last != directory) {
        return std::string(risk);
      }
    }
  }
  return {};
}

// The content of blobs, by oid.
Result<std::map<std::string, std::string>> ReadBlobs(const LaneGit& git,
                                                     const std::vector<std::string>& oids) {
  std::map<std::string, std::string> out;
  if (oids.empty()) {
    return out;
  }
  LaneGit::Call call;
  call.input = "";
  for (const auto& oid : oids) {
    *call.input += oid + "\n";
  }
  SpawnResult result;
  MACO_ASSIGN(result, git.Run({"cat-file", "--batch"}, call));
  const std::string& text = result.output;
  std::size_t at = 0;
  for (const auto& oid : oids) {
    const std::size_t line = text.find('\n', at);
    const auto fields = Split(std::string_view(text).substr(at, line - at), ' ');
    constexpr std::uint64_t kNone = ~std::uint64_t{0};
    const std::uint64_t size = fields.size() == 3 ? ParseUint(fields[2]).value_or(kNone) : kNone;
    if (line == std::string::npos || fields[0] != oid || size >= text.size() - line - 1) {
      return Fail(GitFailure("cat-file", result));
    }
    out[oid] = text.substr(line + 1, size);
    at = line + 1 + size + 1;
  }
  return out;
}

// Every link of a tree, with its target.
Result<std::map<std::string, std::string>> LinksOf(const LaneGit& git, const std::string& tree) {
  std::string text;
  MACO_ASSIGN(text, git.Ask({"ls-tree", "-r", "-z", tree}, {}));
  std::map<std::string, std::string> oids;
  std::vector<std::string> wanted;
  for (const auto& line : ZeroFields(text)) {
    const std::size_t tab = line.find('\t');
    const auto fields = Split(std::string_view(line).substr(0, tab), ' ');
    if (tab != std::string::npos && fields.size() == 3 && fields[0] == kLink) {
      oids[line.substr(tab + 1)] = fields[2];
      wanted.emplace_back(fields[2]);
    }
  }
  std::map<std::string, std::string> targets;
  MACO_ASSIGN(targets, ReadBlobs(git, wanted));
  std::map<std::string, std::string> out;
  for (const auto& [path, oid] : oids) {
    out[path] = targets[oid];
  }
  return out;
}

Result<void> JudgeLinks(const LaneGit& git, const LaneTree& tree, std::vector<Finding>& out) {
  if (std::ranges::none_of(tree.changes,
                           [](const Change& change) { return change.new_mode == kLink; })) {
    return {};
  }
  std::map<std::string, std::string> links;
  MACO_ASSIGN(links, LinksOf(git, tree.tree));
  for (const auto& change : tree.changes) {
    if (change.new_mode == kLink &&
        (LeadsOut(change.path, links[change.path]) || LeadsOutThrough(links, change.path))) {
      out.push_back({change.path, "is a symbolic link that leads out of the tree, to '" +
                                      EscapeControl(links[change.path]) + "'"});
    }
  }
  return {};
}

Result<void> JudgeTwins(const LaneGit& git, const LaneTree& tree, std::vector<Finding>& out) {
  const bool added =
      std::ranges::any_of(tree.changes, [](const Change& change) { return change.status == "A"; });
  if (!added) {
    return {};
  }
  std::string names;
  MACO_ASSIGN(names, git.Ask({"ls-tree", "-r", "-t", "-z", "--name-only", tree.tree}, {}));
  std::map<std::string, std::vector<std::string>> by_lower;
  for (const auto& name : ZeroFields(names)) {
    by_lower[Lower(name)].push_back(name);
  }
  for (const auto& change : tree.changes) {
    if (change.status != "A") {
      continue;
    }
    // The twin may be a directory on the way.
    for (std::size_t end = change.path.find('/');; end = change.path.find('/', end + 1)) {
      const std::string part = change.path.substr(0, end);
      for (const auto& other : by_lower[Lower(part)]) {
        if (other != part) {
          out.push_back(
              {change.path, "differs from " + Quoted(other) + " in the case of letters only"});
          break;
        }
      }
      if (end == std::string::npos) {
        break;
      }
    }
  }
  return {};
}

void JudgeScope(const Lane& lane, const LaneTable& table, const Change& change, Letters letters,
                std::vector<Finding>& out) {
  const Claim* owner = OwnerOf(table, change.path, letters);
  if (owner != nullptr && owner->lane_id == lane.id) {
    return;
  }
  if (owner != nullptr) {
    out.push_back({change.path, "is claimed by lane '" + owner->lane + "'"});
  } else if (!ScopeOf(table, lane.id).empty()) {
    out.push_back({change.path, "lies outside of what the lane has claimed"});
  }
}

}  // namespace

bool LeadsOut(const std::string& path, const std::string& target) {
  if (target.empty() || target.front() == '/') {
    return true;
  }
  const std::size_t slash = path.rfind('/');
  int depth = 0;
  if (slash != std::string::npos) {
    depth = static_cast<int>(Split(std::string_view(path).substr(0, slash), '/').size());
  }
  // Behind a name, which may be a link itself, ".." is not what it seems.
  bool named = false;
  for (const auto component : Split(target, '/')) {
    if (component.empty() || component == ".") {
      continue;
    }
    if (Lower(component) == ".git" || (component == ".." && (named || --depth < 0))) {
      return true;
    }
    named = named || component != "..";
  }
  return false;
}

bool LeadsOutThrough(const std::map<std::string, std::string>& links, const std::string& path) {
  constexpr int kMaxLinks = 40;  // as the kernel has it, see path_resolution(7)
  std::deque<std::string> rest;
  const auto put_in_front = [&rest](const std::string& text) {
    const auto components = Split(text, '/');
    rest.insert(rest.begin(), components.begin(), components.end());
  };
  put_in_front(path);
  std::vector<std::string> walked;
  std::string here;  // walked, joined
  for (int count = 0; !rest.empty();) {
    const std::string component = rest.front();
    rest.pop_front();
    if (component.empty() || component == ".") {
      continue;
    }
    if (component == "..") {
      if (walked.empty()) {
        return true;
      }
      walked.pop_back();
    } else {
      walked.push_back(component);
    }
    here.clear();
    for (const auto& part : walked) {
      here += (here.empty() ? "" : "/") + part;
    }
    const auto link = links.find(here);
    if (link == links.end()) {
      continue;
    }
    if (link->second.starts_with('/')) {
      return true;
    }
    if (++count > kMaxLinks) {
      return false;  // the kernel goes nowhere from there
    }
    walked.pop_back();
    put_in_front(link->second);
  }
  return false;
}

std::string RiskOf(const Change& change) {
  if (auto risk = RiskOfName(change.path); !risk.empty()) {
    return risk;
  }
  if (change.new_mode == kLink) {
    return "symbolic link";
  }
  if (change.new_mode == "100755" && change.old_mode != "100755") {
    return "made executable";
  }
  return change.binary && change.status != "D" ? "binary" : "";
}

Result<std::vector<Finding>> JudgeChanges(const LaneGit& git, const Lane& lane,
                                          const LaneTable& table, const LaneTree& tree,
                                          Letters letters) {
  std::vector<Finding> out;
  for (const auto& change : tree.changes) {
    const std::string name = Lower(change.path.substr(change.path.rfind('/') + 1));
    if (change.old_mode == kSubmodule || change.new_mode == kSubmodule || name == ".gitmodules") {
      out.push_back({change.path, "changes a submodule"});
    }
    JudgeScope(lane, table, change, letters, out);
  }
  MACO_TRY(JudgeLinks(git, tree, out));
  MACO_TRY(JudgeTwins(git, tree, out));
  return out;
}

}  // namespace maco::worktree

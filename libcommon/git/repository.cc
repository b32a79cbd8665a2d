// One run of `git rev-parse`, parsed strictly.
// Contract: libcommon/git/repository.h.
#include "libcommon/git/repository.h"

#include <string_view>
#include <vector>

#include "libcommon/base/text.h"
#include "libcommon/git/git_program.h"
#include "libcommon/os/directory.h"
#include "libcommon/os/spawn.h"

namespace maco {
namespace {

constexpr std::size_t kOutputBytes = std::size_t{64} << 10U;
constexpr int kGitFatal = 128;

// The lines that git prints, in this order. The last fails in a bare repository and inside a Git
// directory; what was printed before it still counts.
constexpr const char* kQuestions[] = {"--git-dir", "--git-common-dir", "--is-bare-repository",
                                      "--show-toplevel"};
constexpr std::size_t kLinesWithoutWorktree = 3;
constexpr std::size_t kLines = 4;

SpawnRequest RevParse(std::string git, const std::string& directory) {
  SpawnRequest request;
  request.program = std::move(git);
  request.arguments = {"rev-parse", "--path-format=absolute"};
  request.arguments.insert(request.arguments.end(), std::begin(kQuestions), std::end(kQuestions));
  request.environment = CleanGitEnvironment();
  for (auto& variable : CallersGitVariables(GitVariables::kDiscovery)) {
    request.environment.push_back(std::move(variable));
  }
  request.directory = directory;
  request.output_limit = kOutputBytes;
  return request;
}

// git's own words, in one line, without "fatal: ". Its advice about safe.directory follows the
// first line and becomes the remedy.
Error FromGit(std::string_view text) {
  constexpr std::string_view kFatal = "fatal: ";
  const std::string_view first = text.substr(0, text.find('\n'));
  const std::string reason(first.starts_with(kFatal) ? first.substr(kFatal.size()) : first);
  if (reason.starts_with("not a git repository")) {
    return MakeError(Code::kNotFound, reason, "run this inside a repository, or 'git init' one");
  }
  if (reason.find("dubious ownership") != std::string::npos) {
    return MakeError(Code::kPermission, reason,
                     "if you trust it, add it to safe.directory, see git-config(1)");
  }
  return MakeError(Code::kInvalid, reason.empty() ? "git rev-parse failed" : "git: " + reason);
}

// The lines of `output`, each of which must end.
std::vector<std::string_view> Lines(std::string_view output) {
  std::vector<std::string_view> lines = Split(output, '\n');
  lines.pop_back();
  return lines;
}

// A newline in a path makes more lines than there were questions, so it cannot go unnoticed.
Result<Repository> Parse(const SpawnResult& result) {
  const std::vector<std::string_view> lines = Lines(result.output);
  if (!lines.empty() && lines[0].starts_with("--")) {
    return Fail(Code::kUnsupported, "git is too old: it does not know --path-format",
                "install git 2.31 or later");
  }
  const bool failed = result.signal != 0 || result.exit_status != 0;
  const bool no_worktree = result.signal == 0 && result.exit_status == kGitFatal &&
                           lines.size() == kLinesWithoutWorktree;
  if (lines.empty() || (failed && !no_worktree && lines.size() <= kLines)) {
    return Fail(FromGit(result.error_output));
  }
  if (lines.size() != (no_worktree ? kLinesWithoutWorktree : kLines)) {
    return Fail(Code::kInvalid, "the path of this repository holds a newline",
                "move the repository to a path without one");
  }
  Repository repository;
  repository.git_dir = lines[0];
  repository.common_dir = lines[1];
  repository.bare = lines[2] == "true";
  repository.worktree = no_worktree ? "" : lines[3];
  const bool absolute = lines[0].starts_with('/') && lines[1].starts_with('/') &&
                        (no_worktree || lines[3].starts_with('/'));
  if (!absolute || (lines[2] != "true" && lines[2] != "false")) {
    return Fail(Code::kInvalid, "git rev-parse gave an unexpected answer");
  }
  return repository;
}

}  // namespace

Result<Repository> FindRepository(const std::string& directory) {
  if (!directory.empty()) {
    MACO_TRY(Directory::OpenPath(directory));  // so that "not found" names it, not git
  }
  std::string git;
  MACO_ASSIGN(git, FindGitProgram());
  SpawnResult result;
  MACO_ASSIGN(result, RunProgram(RevParse(std::move(git), directory)));
  return Parse(result);
}

}  // namespace maco

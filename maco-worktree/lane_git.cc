// Settings of our own, and an environment without any other.
// Contract: maco-worktree/lane_git.h. Sources: git(1), git-config(1), gitattributes(5).
#include "maco-worktree/lane_git.h"

#include <fcntl.h>
#include <unistd.h>

#include <iterator>

#include "libcommon/base/byte_codec.h"
#include "libcommon/git/git_program.h"
#include "libcommon/os/directory.h"

namespace maco::worktree {
namespace {

constexpr std::size_t kMaxOutput = std::size_t{256} << 20U;
constexpr std::chrono::minutes kGitTime{60};

// Attributes in this file win over all others: no filter is run, and no file is hidden from the
// reader of a patch. Line ends and encodings stay as the tree's own attributes say.
constexpr char kAttributes[] = "* !filter !diff !merge\n";

std::string Config(const Place& place, const Lane& lane) {
  const bool sha256 = lane.format == "sha256";
  return std::string("[core]\n") + "\trepositoryformatversion = " + (sha256 ? "1" : "0") + "\n" +
         "\tbare = false\n\tfilemode = true\n\tsymlinks = true\n\tignorecase = false\n"
         "\ttrustctime = true\n\tcheckStat = default\n\tlogallrefupdates = false\n"
         "\tprotectNTFS = true\n\tprotectHFS = true\n\tquotePath = false\n\tsafecrlf = false\n"
         "\tfsmonitor = false\n\tuntrackedCache = false\n\tsplitIndex = false\n"
         "\tsparseCheckout = false\n\tpreloadIndex = true\n\tbigFileThreshold = 16m\n"
         "\thooksPath = /dev/null\n\tattributesFile = /dev/null\n\texcludesFile = /dev/null\n"
         "\tpager = cat\n\tautocrlf = " +
         place.auto_crlf + "\n\teol = " + place.eol + "\n" +
         (sha256 ? "[extensions]\n\tobjectformat = sha256\n" : "") +
         "[index]\n\tversion = 2\n\tsparse = false\n\tskipHash = false\n"
         "[diff]\n\trenames = false\n\tignoreSubmodules = all\n\tnoprefix = false\n"
         "\tmnemonicPrefix = false\n\tinterHunkContext = 0\n\tcontext = 3\n"
         "[status]\n\tsubmoduleSummary = false\n\trenames = false\n"
         "[submodule]\n\trecurse = false\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"
         "[protocol]\n\tallow = never\n[advice]\n\taddEmbeddedRepo = false\n"
         "[checkout]\n\tworkers = 1\n";
}

Result<void> WriteNew(const Directory& directory, const std::string& name,
                      const std::string& text) {
  UniqueFd fd;
  MACO_ASSIGN(fd, directory.OpenFile(name, O_WRONLY | O_CREAT | O_EXCL, 0600));
  return WriteAll(fd.get(), AsBytes(text));
}

}  // namespace

Result<LaneGit> LaneGit::Create(const Place& place, const Lane& lane) {
  LaneGit git = Of(place, lane);
  Directory files;
  MACO_ASSIGN(files, Directory::OpenPath(git.files_));
  Directory top;
  MACO_ASSIGN(top, files.Create("gitdir", 0700));
  for (const char* name :
       {"objects", "objects/info", "objects/pack", "refs", "refs/heads", "info"}) {
    MACO_TRY(top.Create(name, 0700));
  }
  MACO_TRY(WriteNew(top, "objects/info/alternates", git.common_objects_ + "\n"));
  MACO_TRY(WriteNew(top, "info/attributes", kAttributes));
  MACO_TRY(WriteNew(top, "config", Config(place, lane)));
  MACO_TRY(WriteNew(top, "HEAD", lane.base + "\n"));
  return git;
}

LaneGit LaneGit::Of(const Place& place, const Lane& lane) {
  return {LaneFiles(place, lane.id), place.repository.common_dir + "/objects"};
}

Result<SpawnResult> LaneGit::Run(std::vector<std::string> arguments, const Call& call) const {
  SpawnRequest request;
  MACO_ASSIGN(request.program, FindGitProgram());
  // A captured object is on disk before a candidate names it: git by itself flushes packs only.
  request.arguments = {"-c", "core.fsync=loose-object", "-c", "core.fsyncMethod=batch"};
  if (!call.file_mode) {
    request.arguments.insert(request.arguments.end(), {"-c", "core.fileMode=false"});
  }
  request.arguments.insert(request.arguments.end(), std::make_move_iterator(arguments.begin()),
                           std::make_move_iterator(arguments.end()));
  for (auto& variable : CleanGitEnvironment()) {
    if (!variable.starts_with("HOME=") && !variable.starts_with("XDG_CONFIG_HOME=")) {
      request.environment.push_back(std::move(variable));
    }
  }
  const auto set = [&request](const std::string& name, const std::string& value) {
    if (!value.empty()) {
      request.environment.push_back(name + "=" + value);
    }
  };
  set("HOME", "/nonexistent");
  set("XDG_CONFIG_HOME", "/nonexistent");
  set("GIT_CONFIG_NOSYSTEM", "1");
  set("GIT_CONFIG_GLOBAL", "/dev/null");
  set("GIT_ATTR_NOSYSTEM", "1");
  set("GIT_NO_LAZY_FETCH", "1");
  set("GIT_DIR", git_dir());
  set("GIT_WORK_TREE", call.work_tree);
  set("GIT_INDEX_FILE", call.index);
  if (!call.objects.empty()) {
    set("GIT_OBJECT_DIRECTORY", call.objects);
    set("GIT_ALTERNATE_OBJECT_DIRECTORIES", git_dir() + "/objects");
  }
  for (const auto& variable : call.environment) {
    const std::string name = variable.substr(0, variable.find('=') + 1);
    std::erase_if(request.environment, [&](const auto& old) { return old.starts_with(name); });
    request.environment.push_back(variable);
  }
  request.directory = call.work_tree.empty() ? git_dir() : call.work_tree;
  request.input = call.input;
  request.output_limit = kMaxOutput;
  request.timeout = kGitTime;
  return RunProgram(request);
}

Result<std::string> LaneGit::Ask(std::vector<std::string> arguments, const Call& call) const {
  const std::string what = arguments.front();
  SpawnResult result;
  MACO_ASSIGN(result, Run(std::move(arguments), call));
  if (result.signal != 0 || result.exit_status != 0) {
    return Fail(GitFailure(what, result));
  }
  if (result.output.ends_with('\n')) {
    result.output.pop_back();
  }
  return std::move(result.output);
}

std::vector<std::string> ZeroFields(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\0', begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

}  // namespace maco::worktree

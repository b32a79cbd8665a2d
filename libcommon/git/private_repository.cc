// A bare repository in a temporary directory, and what is asked of it.
// Contract: libcommon/git/private_repository.h.
#include "libcommon/git/private_repository.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "libcommon/base/random_id.h"
#include "libcommon/git/git_program.h"
#include "libcommon/os/ofd_lock.h"

namespace maco {
namespace {

constexpr char kFinished[] = "maco-finished";
constexpr std::size_t kMaxOutput = std::size_t{64} << 20U;

Result<std::string> PathOf(const Directory& directory) {
  std::array<char, PATH_MAX> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(directory.fd());
  const ssize_t length = readlink(link.c_str(), path.data(), path.size());
  if (length <= 0 || static_cast<std::size_t>(length) == path.size()) {
    return FailOs(errno, "find the path of a descriptor");
  }
  return std::string(path.data(), static_cast<std::size_t>(length));
}

std::vector<std::string> Environment() {
  std::vector<std::string> out = CleanGitEnvironment();
  out.emplace_back("GIT_AUTHOR_NAME=git maco");
  out.emplace_back("GIT_AUTHOR_EMAIL=git-maco@localhost");
  out.emplace_back("GIT_COMMITTER_NAME=git maco");
  out.emplace_back("GIT_COMMITTER_EMAIL=git-maco@localhost");
  if (const char* agent = std::getenv("SSH_AUTH_SOCK"); agent != nullptr) {
    out.push_back(std::string("SSH_AUTH_SOCK=") + agent);
  }
  return out;
}

Result<SpawnResult> RunGit(std::vector<std::string> arguments, const std::string& directory,
                           std::chrono::minutes timeout) {
  SpawnRequest request;
  MACO_ASSIGN(request.program, FindGitProgram());
  request.arguments = {
      "-c", "core.fsmonitor=false",  "-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0",
      "-c", "maintenance.auto=false"};
  request.arguments.insert(request.arguments.end(), arguments.begin(), arguments.end());
  request.environment = Environment();
  request.directory = directory;
  request.output_limit = kMaxOutput;
  request.timeout = timeout;
  return RunProgram(request);
}

Result<std::string> Answer(const SpawnResult& result, const std::string& what) {
  if (result.signal != 0 || result.exit_status != 0) {
    return Fail(Code::kInvalid, "git " + what + " failed: " + FirstLine(result.error_output));
  }
  const std::string& text = result.output;
  return text.ends_with('\n') ? text.substr(0, text.size() - 1) : text;
}

// A path that is not absolute is the only form that depends on where git is run: see git-push(1),
// "GIT URLS": a colon before the first slash makes it a host.
std::string FromDirectory(const std::string& url, const std::string& directory) {
  const bool is_path = url.find(':') == std::string::npos || url.find('/') < url.find(':');
  return is_path && !url.starts_with('/')
             ? std::filesystem::path(directory + "/" + url).lexically_normal().string()
             : url;
}

Result<void> Init(const std::string& path, const std::string& object_format) {
  SpawnResult result;
  MACO_ASSIGN(result, RunGit({"init", "-q", "--bare",
                              "--template=", "--object-format=" + object_format, "."},
                             path, std::chrono::minutes(1)));
  MACO_TRY(Answer(result, "init"));
  return {};
}

}  // namespace

Result<PrivateRepository> PrivateRepository::Create(const Directory& parent,
                                                    const std::string& object_format) {
  std::string id;
  MACO_ASSIGN(id, RandomId());
  MACO_TRY(parent.Create(id, 0700));
  std::string path;
  MACO_ASSIGN(path, PathOf(parent));
  PrivateRepository repository(path + "/" + id, false);
  MACO_TRY(Init(repository.path_, object_format));
  return repository;
}

Result<PrivateRepository> PrivateRepository::OpenOrCreate(const Directory& parent,
                                                          const std::string& name,
                                                          const std::string& object_format) {
  std::string path;
  MACO_ASSIGN(path, PathOf(parent));
  PrivateRepository repository(path + "/" + name, true);
  UniqueFd lock;
  MACO_ASSIGN(lock, OfdLock::OpenLocked(parent, name + ".lock", O_RDWR | O_CREAT, 0600, true));
  Directory directory;
  MACO_ASSIGN(directory, parent.OpenOrCreate(name, 0700));
  const auto finished = directory.Stat(kFinished);
  if (finished) {
    return repository;
  }
  if (finished.error().code != Code::kNotFound) {
    return Fail(finished.error());
  }
  // What was begun and not finished may have git's own locks in it.
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(repository.path_, failed)) {
    std::filesystem::remove_all(entry.path(), failed);
  }
  MACO_TRY(Init(repository.path_, object_format));
  MACO_TRY(directory.OpenFile(kFinished, O_WRONLY | O_CREAT, 0600));
  return repository;
}

PrivateRepository::PrivateRepository(PrivateRepository&& other) noexcept
    : path_(std::exchange(other.path_, {})), stays_(other.stays_) {}

PrivateRepository::~PrivateRepository() {
  if (!path_.empty() && !stays_) {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
}

Result<SpawnResult> PrivateRepository::Run(std::vector<std::string> arguments,
                                           std::chrono::minutes timeout) const {
  arguments.insert(arguments.begin(), "--git-dir=" + path_);
  return RunGit(std::move(arguments), path_, timeout);
}

Result<std::string> PrivateRepository::Ask(std::vector<std::string> arguments) const {
  const std::string what = arguments.front();
  SpawnResult result;
  MACO_ASSIGN(result, Run(std::move(arguments)));
  return Answer(result, what);
}

Result<std::string> ObjectFormat(const std::string& git_dir) {
  SpawnResult result;
  MACO_ASSIGN(result, RunGit({"--git-dir=" + git_dir, "rev-parse", "--show-object-format"}, git_dir,
                             std::chrono::minutes(1)));
  return Answer(result, "rev-parse");
}

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

Result<std::string> RemoteUrl(const std::string& remote, const std::string& directory) {
  std::vector<ConfigValue> values;
  MACO_ASSIGN(values, ReadConfig("remote." + remote + "."));
  return RemoteUrlOf(values, remote, directory);
}

Result<std::string> RemoteUrlOf(const std::vector<ConfigValue>& settings, const std::string& remote,
                                const std::string& directory) {
  const std::string prefix = "remote." + remote + ".";
  std::string url;
  std::string push_url;
  for (const auto& value : settings) {
    if (value.key == prefix + "url" && url.empty()) {
      url = value.value;
    } else if (value.key == prefix + "pushurl" && push_url.empty()) {
      push_url = value.value;
    }
  }
  if (!push_url.empty() || !url.empty()) {
    return FromDirectory(push_url.empty() ? url : push_url, directory);
  }
  const bool looks_like_one =
      remote.find(':') != std::string::npos || remote.find('/') != std::string::npos;
  if (!looks_like_one || remote.starts_with('-')) {
    return Fail(Code::kNotFound, "there is no remote '" + remote + "'",
                "'git remote -v' names them");
  }
  return FromDirectory(remote, directory);
}

std::string WithoutCredentials(const std::string& url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string::npos) {
    return url;
  }
  const std::size_t start = scheme + 3;
  const std::size_t end = url.find('/', start);
  const std::size_t at = url.rfind('@', end);
  if (at == std::string::npos || at < start) {
    return url;
  }
  // Over ssh the user is part of the place; elsewhere it may be a token.
  const std::string user = url.starts_with("ssh://")
                               ? url.substr(start, std::min(at, url.find(':', start)) - start) + "@"
                               : std::string();
  return url.substr(0, start) + user + url.substr(at + 1);
}

}  // namespace maco

// Settings by scope, URLs taken apart, and the transport for what they say.
// Contract: maco-effect/place.h.
#include "maco-effect/place.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "libcommon/auth/canonical_json.h"
#include "libcommon/base/report.h"
#include "libcommon/base/text.h"
#include "libcommon/cli/output.h"
#include "libcommon/git/git_program.h"
#include "libcommon/git/plain_repository.h"
#include "libcommon/git/private_repository.h"
#include "libcommon/lane/lane_registry.h"
#include "maco-effect/forge/http.h"
#include "maco-effect/git_transport.h"
#include "maco-effect/shown_url.h"

namespace maco::effect {
namespace {

constexpr std::size_t kMaxOutput = std::size_t{16} << 20U;

struct KnownForge {
  const char* host;
  const char* transport;
  const char* api;
};
constexpr std::array<KnownForge, 3> kKnown = {{
    {"github.com", "github", "https://api.github.com"},
    {"gitlab.com", "gitlab", "https://gitlab.com/api/v4"},
    {"codeberg.org", "gitea", "https://codeberg.org/api/v1"},
}};

std::string DefaultApi(const std::string& transport, const std::string& host) {
  const char* path = transport == "github"   ? "/api/v3"
                     : transport == "gitlab" ? "/api/v4"
                                             : "/api/v1";
  return "https://" + host + path;
}

bool IsForgePath(const std::string& path) {
  const auto parts = Split(path, '/');
  return parts.size() >= 2 && std::ranges::all_of(parts, [](std::string_view part) {
           return !part.empty() && part != "." && part != ".." &&
                  std::ranges::all_of(part, [](char c) {
                    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
                  });
         });
}

// "host:8080/owner/name": as --repository has it, where git's short form of ssh would have a user.
bool HasPort(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::size_t slash = text.find('/');
  return text.find('@') == std::string::npos && colon < slash && slash != std::string::npos &&
         ParseUint(text.substr(colon + 1, slash - colon - 1)).has_value();
}

// The Git directory of the lane that has the candidate: its objects are there and nowhere else.
std::string LaneObjects(const Place& place, const StateRoot& state, const std::string& candidate) {
  const auto table = ReadLanes(state);
  if (!table) {
    return {};
  }
  const auto row = table->candidates.find(candidate);
  return row == table->candidates.end() ? ""
                                        : place.repository.common_dir + "/" + kStateRootName + "/" +
                                              kLanesName + "/" + row->second.lane_id + "/gitdir";
}

// git takes it from the repository's own configuration alone.
std::string ObjectFormatOf(const Place& place) {
  std::string out = "sha1";
  for (const auto& value : place.settings) {
    if (value.key == "extensions.objectformat" && value.scope == "local") {
      out = value.value;
    }
  }
  return out;
}

// Where a token goes. What may hold a secret is not repeated.
Result<void> CheckApi(const std::string& api, const std::string& setting) {
  const bool plain = api.find_first_of("?#") == std::string::npos;
  if (IsAllowedUrl(api) && plain) {
    return {};
  }
  if (!plain || api.find('@') != std::string::npos) {
    return Fail(Code::kInvalid, "the URL in " + setting + " holds credentials or a query",
                "the setting for the token says where that is; give the base URL alone");
  }
  return Fail(Code::kInvalid, "'" + EscapeControl(api) + "' in " + setting + " is no https URL",
              "http is for this host only");
}

Result<std::chrono::milliseconds> TimeoutOf(const Place& place,
                                            std::chrono::milliseconds otherwise) {
  constexpr std::uint64_t kMost = 3600;
  const std::string text = place.ProtectedSetting("maco.effect.timeout");
  if (text.empty()) {
    return otherwise;
  }
  const auto seconds = ParseUint(text);
  if (!seconds || *seconds == 0 || *seconds > kMost) {
    return Fail(Code::kInvalid, "maco.effect.timeout is a number of seconds from 1 to 3600");
  }
  return std::chrono::seconds(*seconds);
}

// What was recorded goes where it was meant to go, whatever is configured now. `api` as recorded;
// empty if that is not known any more.
Result<void> CheckForge(const ForgeSettings& now, const Effect& effect, const std::string& api) {
  const std::string setting = "maco.forge." + now.host + ".";
  if (now.transport != effect.transport) {
    return Fail(Code::kRefused,
                "the effect is one of " + EscapeControl(effect.transport) + ", but '" + now.host +
                    "' is " + now.transport + " now",
                "set " + setting + "provider back");
  }
  if (!api.empty() && now.api != api) {
    return Fail(Code::kRefused,
                "the effect is for the API '" + ShownUrl(api) + "', but that of '" + now.host +
                    "' is '" + now.api + "' now",
                "set " + setting + "api back, or plan it anew");
  }
  return {};
}

}  // namespace

std::string Place::Setting(const std::string& key) const {
  std::string out;
  for (const auto& value : settings) {
    if (value.key == key) {
      out = value.value;
    }
  }
  return out;
}

std::string Place::ProtectedSetting(const std::string& key) const {
  std::string out;
  for (const auto& value : settings) {
    if (value.key != key) {
      continue;
    }
    static std::set<std::string> told;  // once is enough
    if (value.IsProtected()) {
      out = value.value;
    } else if (told.insert(key).second) {
      Note(kTool,
           EscapeControl(key) +
               " of the repository's own settings does not count; use 'git config --global'");
    }
  }
  return out;
}

std::string Place::top() const {
  return repository.worktree.empty() ? repository.git_dir : repository.worktree;
}

Result<Place> FindRepositoryPlace() {
  Place place;
  MACO_ASSIGN(place.repository, LocateRepository());
  MACO_ASSIGN(place.common_dir, Directory::OpenPath(place.repository.common_dir));
  return place;
}

Result<Place> FindPlace() {
  Place place;
  ConfiguredRepository found;
  MACO_ASSIGN(found, FindConfiguredRepository());
  place.repository = std::move(found.repository);
  place.settings = std::move(found.config);
  MACO_ASSIGN(place.common_dir, Directory::OpenPath(place.repository.common_dir));
  return place;
}

Result<StateRoot> OpenState(const Place& place, Access access) {
  return StateRoot::Open(place.common_dir, IfMoved::kRefuse, access);
}

Result<std::string> ForgeRepositoryOf(const std::string& url) {
  std::string host;
  std::string path;
  const std::size_t scheme = url.find("://");
  if (scheme != std::string::npos) {
    const std::size_t begin = scheme + 3;
    const std::size_t slash = url.find('/', begin);
    host = url.substr(begin, slash == std::string::npos ? slash : slash - begin);
    path = slash == std::string::npos ? "" : url.substr(slash + 1);
    host.erase(0, host.rfind('@') == std::string::npos ? 0 : host.rfind('@') + 1);
    if (!url.starts_with("http")) {
      host = host.substr(0, host.find(':'));  // the port of ssh is not that of the forge
    }
  } else if (const std::size_t colon = url.find(':');
             colon != std::string::npos && url.find('/') > colon && !HasPort(url)) {
    host = url.substr(0, colon);
    path = url.substr(colon + 1);
    host.erase(0, host.rfind('@') == std::string::npos ? 0 : host.rfind('@') + 1);
  } else if (!url.starts_with('/') && !url.starts_with('.')) {
    const std::size_t slash = url.find('/');
    host = url.substr(0, slash);
    path = slash == std::string::npos ? "" : url.substr(slash + 1);
  }
  while (path.starts_with('/')) {
    path.erase(0, 1);
  }
  while (path.ends_with('/')) {
    path.pop_back();
  }
  if (path.ends_with(".git")) {
    path.resize(path.size() - 4);
  }
  if (host.empty() || host.find_first_of("@?#") != std::string::npos || !IsForgePath(path) ||
      url.starts_with("file:")) {
    return Fail(Code::kInvalid, "'" + ShownUrl(url) + "' names no repository of a forge",
                "say it with --repository HOST/OWNER/NAME");
  }
  std::ranges::transform(host, host.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return host + "/" + path;
}

Result<ForgeSettings> ForgeOf(const Place& place, const std::string& repository) {
  ForgeSettings out;
  out.host = repository.substr(0, repository.find('/'));
  const std::string prefix = "maco.forge." + out.host + ".";
  for (const auto& known : kKnown) {
    if (out.host == known.host) {
      out.transport = known.transport;
      out.api = known.api;
    }
  }
  const std::string provider = place.ProtectedSetting(prefix + "provider");
  if (!provider.empty()) {
    out.transport = provider;
    out.api = DefaultApi(provider, out.host);
  }
  if (out.transport.empty()) {
    return Fail(Code::kNotFound, "nothing says what kind of forge '" + out.host + "' is",
                "git config --global maco.forge." + out.host + ".provider github|gitlab|gitea");
  }
  if (out.transport != "github" && out.transport != "gitlab" && out.transport != "gitea") {
    return Fail(Code::kInvalid, prefix + "provider is '" + EscapeControl(out.transport) + "'",
                "it is github, gitlab or gitea");
  }
  const std::string api = place.ProtectedSetting(prefix + "api");
  if (!api.empty()) {
    out.api = api;
  }
  while (out.api.ends_with('/')) {
    out.api.pop_back();
  }
  MACO_TRY(CheckApi(out.api, prefix + "api"));
  out.token = place.ProtectedSetting(prefix + "token");
  if (out.token.empty()) {
    out.token = "credential";
  }
  out.ca_file = place.ProtectedSetting(prefix + "cafile");
  MACO_ASSIGN(out.timeout, TimeoutOf(place, out.timeout));
  return out;
}

Result<std::unique_ptr<Transport>> TransportOf(const Place& place, const StateRoot& state,
                                               const Effect& effect, const std::string& api) {
  if (effect.transport == kGitTransport) {
    std::vector<std::string> sources = {place.repository.common_dir};
    if (!effect.candidate.empty()) {
      if (std::string lane = LaneObjects(place, state, effect.candidate); !lane.empty()) {
        sources.push_back(std::move(lane));
      }
    }
    return MakeGitTransport(state, ObjectFormatOf(place), std::move(sources));
  }
  ForgeSettings settings;
  MACO_ASSIGN(settings, ForgeOf(place, effect.repository));
  MACO_TRY(CheckForge(settings, effect, api));
  return MakeForgeTransport(state, std::move(settings));
}

Result<std::string> AskGit(const std::string& git_dir, std::vector<std::string> arguments,
                           const std::vector<std::string>& environment) {
  SpawnRequest request;
  MACO_ASSIGN(request.program, FindGitProgram());
  const std::string what = arguments.front();
  request.arguments = {"--git-dir=" + git_dir,
                       "-c",
                       "core.hooksPath=/dev/null",
                       "-c",
                       "core.fsmonitor=false",
                       "-c",
                       "gc.auto=0",
                       "-c",
                       "protocol.allow=never"};
  request.arguments.insert(request.arguments.end(), arguments.begin(), arguments.end());
  request.environment = CleanGitEnvironment();
  request.environment.emplace_back("GIT_NO_LAZY_FETCH=1");
  request.environment.insert(request.environment.end(), environment.begin(), environment.end());
  request.directory = git_dir;
  request.output_limit = kMaxOutput;
  SpawnResult result;
  MACO_ASSIGN(result, RunProgram(request));
  if (result.signal != 0 || result.exit_status != 0) {
    return Fail(Code::kInvalid,
                "git " + what + " failed: " + EscapeControl(FirstLine(result.error_output)));
  }
  if (result.output.ends_with('\n')) {
    result.output.pop_back();
  }
  return std::move(result.output);
}

Result<std::string> SiblingProgram(const std::string& name) {
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) {
    return FailOs(failed.value(), "find our own program");
  }
  return (self.parent_path() / name).string();
}

}  // namespace maco::effect

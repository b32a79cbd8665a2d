// Upwards from the current directory, a look at each `.git`, and a strict reader of its
// configuration. Contract: libcommon/git/plain_repository.h.
#include "libcommon/git/plain_repository.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>

#include "libcommon/base/text.h"
#include "libcommon/git/git_program.h"
#include "libcommon/os/bounded_read.h"
#include "libcommon/os/directory.h"

namespace maco {
namespace {

constexpr std::size_t kConfigBytes = std::size_t{64} << 10U;
constexpr std::size_t kHeadBytes = 4096;

std::string Lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

bool IsName(std::string_view text, std::string_view more) {
  return !text.empty() && std::ranges::all_of(text, [more](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           more.find(c) != std::string_view::npos;
  });
}

// The section that a line in brackets opens, in lower case, with a dot behind if it has a
// subsection. Nothing: not plain.
std::optional<std::string> Section(std::string_view line) {
  line = line.substr(1, line.size() - 2);
  const std::size_t space = line.find(' ');
  if (!IsName(line.substr(0, space), "-")) {
    return std::nullopt;
  }
  if (space == std::string_view::npos) {
    return Lower(line);
  }
  const std::string_view quoted = line.substr(space + 1);
  const bool plain = quoted.size() >= 2 && quoted.starts_with('"') && quoted.ends_with('"') &&
                     quoted.substr(1, quoted.size() - 2).find_first_of("\"\\") == std::string::npos;
  return plain ? std::optional(Lower(line.substr(0, space)) + ".") : std::nullopt;
}

bool IsPlainSetting(const std::string& section, const std::string& key, std::string_view value) {
  if (section == "core") {
    return key == "bare" ? value == "false"
                         : key != "worktree" && (key != "repositoryformatversion" || value == "0");
  }
  return !section.starts_with("include") && !section.starts_with("extensions");
}

// Of `name` in `directory`: its identity if it is of that type and not a link.
std::optional<FileIdentity> Own(const Directory& directory, const char* name, mode_t type) {
  const auto identity = directory.Stat(name);
  return identity && (identity->mode & S_IFMT) == type ? std::optional(*identity) : std::nullopt;
}

bool IsMissing(const Directory& directory, const char* name) {
  const auto identity = directory.Stat(name);
  return !identity && identity.error().code == Code::kNotFound;
}

// One that git takes for its own: else it looks further up.
bool IsOpenDirectory(const Directory& directory, const char* name) {
  return Own(directory, name, S_IFDIR) && faccessat(directory.fd(), name, X_OK, 0) == 0;
}

// Small: the content of a regular file; nothing if it is none, or larger.
std::optional<std::string> Content(const Directory& directory, const char* name,
                                   std::size_t limit) {
  if (!Own(directory, name, S_IFREG)) {
    return std::nullopt;
  }
  const auto file = directory.OpenFile(name, O_RDONLY | O_NONBLOCK);
  if (!file) {
    return std::nullopt;
  }
  auto content = ReadAll(file->get(), limit);
  return content ? std::optional(std::move(*content)) : std::nullopt;
}

// A branch below refs/, or an id: what git takes for the HEAD of a repository.
bool IsHead(std::string_view text) {
  constexpr std::string_view kBranch = "ref: refs/";
  if (!text.ends_with('\n')) {
    return false;
  }
  text.remove_suffix(1);
  const bool id = (text.size() == 40 || text.size() == 64) &&
                  text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return id || (text.starts_with(kBranch) && text.size() > kBranch.size() &&
                text.find_first_of(" \t\n", kBranch.size()) == std::string_view::npos);
}

bool IsPlainGitDirectory(const Directory& git_dir) {
  const auto head = Content(git_dir, "HEAD", kHeadBytes);
  if (!head || !IsHead(*head) || !IsOpenDirectory(git_dir, "objects") ||
      !IsOpenDirectory(git_dir, "refs") || !IsMissing(git_dir, "commondir")) {
    return false;
  }
  const auto config = Content(git_dir, "config", kConfigBytes);
  return config && IsPlainConfig(*config);
}

// As getcwd(2) and realpath(3) give it; git prints paths so too.
std::string WithoutLinks(const std::string& directory) {
  std::array<char, PATH_MAX> path{};
  const char* found = directory.empty() ? getcwd(path.data(), path.size())
                                        : realpath(directory.c_str(), path.data());
  return found == nullptr || *found != '/' ? std::string() : std::string(found);
}

}  // namespace

bool IsPlainConfig(std::string_view content) {
  std::string section;
  for (std::string_view line : Split(content, '\n')) {
    if (std::ranges::any_of(line,
                            [](char c) { return (c >= 0 && c < ' ' && c != '\t') || c == 127; })) {
      return false;
    }
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.empty() || line.starts_with('#') || line.starts_with(';')) {
      continue;
    }
    if (line.starts_with('[') && line.ends_with(']')) {
      auto opened = Section(line);
      if (!opened) {
        return false;
      }
      section = std::move(*opened);
      continue;
    }
    constexpr std::string_view kIs = " = ";
    const std::size_t end = line.find(kIs);
    const std::string_view key = line.substr(0, end);
    const std::string_view value =
        end == std::string_view::npos ? std::string_view() : line.substr(end + kIs.size());
    if (section.empty() || value.empty() || !IsName(key, "-") || key.front() < 'A' ||
        value.find_first_of("\"\\#;") != std::string_view::npos ||
        !IsPlainSetting(section, Lower(key), value)) {
      return false;
    }
  }
  return true;
}

std::optional<Repository> PlainRepository(const std::string& directory) {
  if (!CallersGitVariables(GitVariables::kDiscovery).empty()) {
    return std::nullopt;
  }
  std::string path = WithoutLinks(directory);
  std::optional<std::uint64_t> device;
  for (; path.size() > 1; path.resize(path.rfind('/'))) {
    const auto here = Directory::OpenPath(path);
    const auto identity = here ? here->Identity() : Result<FileIdentity>(Fail(here.error()));
    if (!identity || identity->device != device.value_or(identity->device)) {
      return std::nullopt;
    }
    device = identity->device;
    if (IsMissing(*here, ".git") && IsMissing(*here, "HEAD")) {
      continue;
    }
    const auto entry = Own(*here, ".git", S_IFDIR);
    const auto git_dir = here->Open(".git");
    if (!entry || !git_dir || entry->uid != geteuid() || identity->uid != geteuid() ||
        path.find('\n') != std::string::npos || !IsPlainGitDirectory(*git_dir)) {
      return std::nullopt;
    }
    Repository out;
    out.git_dir = path + "/.git";
    out.common_dir = out.git_dir;
    out.worktree = path;
    return out;
  }
  return std::nullopt;
}

Result<Repository> LocateRepository() {
  if (auto plain = PlainRepository()) {
    return std::move(*plain);
  }
  return FindRepository();
}

}  // namespace maco

// Reading of git's small files, bounded.
// Contract: maco-run/spec/git_link.h.
#include "maco-run/spec/git_link.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <string_view>

#include "libcommon/os/bounded_read.h"
#include "libcommon/os/fd.h"

namespace maco::run {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 20U;  // git's own limit
constexpr std::string_view kPrefix = "gitdir: ";

// The text without the line ends behind it; git stops at a zero byte.
std::optional<std::string> ReadLine(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat st {};
  if (!fd.valid() || fstat(fd.get(), &st) != 0 || !S_ISREG(st.st_mode)) {
    return std::nullopt;
  }
  auto text = ReadAll(fd.get(), kMaxBytes);
  if (!text) {
    return std::nullopt;
  }
  text->resize(text->find_last_not_of("\r\n") + 1);  // npos + 1 is 0
  return text->substr(0, text->find('\0'));
}

std::string Absolute(const std::string& base, const std::string& path) {
  return path.starts_with('/') ? path : base + "/" + path;
}

}  // namespace

std::optional<std::string> GitDirOf(const std::string& git_entry) {
  struct stat st {};
  if (stat(git_entry.c_str(), &st) != 0) {
    return std::nullopt;
  }
  if (S_ISDIR(st.st_mode)) {
    return git_entry;
  }
  const auto text = ReadLine(git_entry);
  if (!text || !text->starts_with(kPrefix) || text->size() == kPrefix.size()) {
    return std::nullopt;
  }
  return Absolute(git_entry.substr(0, git_entry.rfind('/')), text->substr(kPrefix.size()));
}

std::optional<std::string> CommonDirOf(const std::string& git_dir) {
  const auto text = ReadLine(git_dir + "/commondir");
  if (!text || text->empty()) {
    return std::nullopt;
  }
  return Absolute(git_dir, *text);
}

bool LeadsTo(const std::string& worktree, const std::string& git_dir) {
  const auto found = GitDirOf(worktree + "/.git");
  struct stat a {};
  struct stat b {};
  return found && stat(found->c_str(), &a) == 0 && stat(git_dir.c_str(), &b) == 0 &&
         a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

}  // namespace maco::run

// Descriptor by descriptor, so that no link on the way leads elsewhere.
// Contract: maco-worktree/apply_files.h.
#include "maco-worktree/apply_files.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>

#include "libcommon/auth/mac.h"
#include "libcommon/base/byte_codec.h"
#include "libcommon/base/text.h"
#include "libcommon/os/bounded_read.h"
#include "libcommon/os/fd.h"
#include "maco-worktree/lane_git.h"

namespace maco::worktree {
namespace {

constexpr std::uint64_t kMaxFile = std::uint64_t{1} << 40U;
constexpr std::size_t kMaxList = std::size_t{256} << 20U;
constexpr std::size_t kFields = 3;

struct Entry {
  Directory parent;
  std::string name;
  FileIdentity identity;
};

// Nothing: no file of that path.
Result<std::optional<Entry>> Look(const Directory& top, const std::string& path) {
  Entry out;
  const std::size_t slash = path.rfind('/');
  auto parent = slash == std::string::npos ? top.Clone() : top.Open(path.substr(0, slash));
  if (!parent) {
    const Error& error = parent.error();
    const bool none =
        error.code == Code::kNotFound || error.os_errno == ENOTDIR || error.os_errno == ELOOP;
    return none ? Result<std::optional<Entry>>(std::nullopt) : Fail(error);
  }
  out.parent = *std::move(parent);
  out.name = path.substr(slash + 1);
  auto identity = out.parent.Stat(out.name);
  if (!identity) {
    return identity.error().code == Code::kNotFound ? Result<std::optional<Entry>>(std::nullopt)
                                                    : Fail(identity.error());
  }
  out.identity = *identity;
  if (S_ISDIR(out.identity.mode)) {
    return Result<std::optional<Entry>>(std::nullopt);
  }
  return Result<std::optional<Entry>>(std::move(out));
}

Result<std::string> TargetOf(const Entry& entry) {
  std::array<char, PATH_MAX> target{};
  const ssize_t size =
      readlinkat(entry.parent.fd(), entry.name.c_str(), target.data(), target.size());
  if (size < 0) {
    return FailOs(errno, "read the link", entry.name);
  }
  return std::string(target.data(), static_cast<std::size_t>(size));
}

}  // namespace

Result<std::string> StateOfFile(const Directory& top, const std::string& path) {
  std::optional<Entry> entry;
  MACO_ASSIGN(entry, Look(top, path));
  if (!entry) {
    return std::string();
  }
  if (S_ISLNK(entry->identity.mode)) {
    std::string target;
    MACO_ASSIGN(target, TargetOf(*entry));
    return "link " + ToHex(AsBytes(target));
  }
  if (!S_ISREG(entry->identity.mode)) {
    return std::string("something else");
  }
  UniqueFd file;
  MACO_ASSIGN(file, entry->parent.OpenFile(entry->name, O_RDONLY | O_NONBLOCK));
  Digest digest;
  MACO_ASSIGN(digest, Sha256OfFile(file.get(), kMaxFile));
  return std::string((entry->identity.mode & 0100U) != 0 ? "program " : "file ") + ToHex(digest);
}

Result<void> CopyAside(const Directory& top, const std::string& path, const Directory& to) {
  std::optional<Entry> entry;
  MACO_ASSIGN(entry, Look(top, path));
  if (!entry) {
    return {};
  }
  for (std::size_t slash = path.find('/'); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    MACO_TRY(to.OpenOrCreate(path.substr(0, slash), 0700));
  }
  if (S_ISLNK(entry->identity.mode)) {
    std::string target;
    MACO_ASSIGN(target, TargetOf(*entry));
    Directory parent;
    const std::size_t slash = path.rfind('/');
    MACO_ASSIGN(parent, slash == std::string::npos ? to.Clone() : to.Open(path.substr(0, slash)));
    return symlinkat(target.c_str(), parent.fd(), path.substr(slash + 1).c_str()) == 0
               ? Result<void>()
               : FailOs(errno, "copy the link", path);
  }
  UniqueFd source;
  UniqueFd copy;
  MACO_ASSIGN(source, entry->parent.OpenFile(entry->name, O_RDONLY | O_NONBLOCK));
  MACO_ASSIGN(copy, to.OpenFile(path, O_WRONLY | O_CREAT | O_EXCL, 0600));
  for (;;) {
    const ssize_t n = sendfile(copy.get(), source.get(), nullptr, std::size_t{1} << 30U);
    if (n < 0) {
      return FailOs(errno, "copy", path);
    }
    if (n == 0) {
      break;
    }
  }
  return fchmod(copy.get(), entry->identity.mode & 0777U) == 0 ? Result<void>()
                                                               : FailOs(errno, "copy", path);
}

Result<void> WriteFileChanges(const std::string& file, const std::vector<FileChange>& changes) {
  std::string text;
  for (const auto& change : changes) {
    for (const auto& field : {change.path, change.old_state, change.new_state}) {
      text += field + '\0';
    }
  }
  const UniqueFd fd(open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd.valid()) {
    return FailOs(errno, "create", file);
  }
  return WriteAll(fd.get(), AsBytes(text));
}

Result<std::vector<FileChange>> ReadFileChanges(const std::string& file) {
  std::string text;
  MACO_ASSIGN(text, ReadPath(file, kMaxList));
  const auto fields = ZeroFields(text);
  if (fields.empty() || fields.size() % kFields != 0) {
    return Fail(Code::kCorrupt, "the list of files of an apply is damaged: " + file);
  }
  std::vector<FileChange> out;
  for (std::size_t i = 0; i < fields.size(); i += kFields) {
    out.push_back({fields[i], fields[i + 1], fields[i + 2]});
  }
  return out;
}

}  // namespace maco::worktree

// Checkout by our own Git directory, copies descriptor by descriptor.
// Contract: maco-worktree/populate.h.
#include "maco-worktree/populate.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "libcommon/base/byte_codec.h"
#include "libcommon/base/text.h"
#include "libcommon/os/bounded_read.h"
#include "libcommon/os/directory.h"
#include "maco-worktree/clone_files.h"
#include "maco-worktree/temporary_index.h"

namespace maco::worktree {
namespace {

constexpr std::size_t kMaxIncluded = 10'000;
constexpr std::uint64_t kMaxIncludedBytes = std::uint64_t{64} << 20U;

Result<void> CopyBytes(int from, int to, std::uint64_t size) {
  for (std::uint64_t done = 0; done < size;) {
    const ssize_t n = sendfile(to, from, nullptr, size - done);
    if (n < 0) {
      return FailOs(errno, "copy a file");
    }
    if (n == 0) {
      break;  // it became shorter
    }
    done += static_cast<std::uint64_t>(n);
  }
  return {};
}

// Copies one regular file with its permissions; what is there already stays.
Result<bool> CopyFile(const Directory& from, const Directory& to, const std::string& path) {
  auto source = from.OpenFile(path, O_RDONLY | O_NONBLOCK);
  if (!source && source.error().os_errno == ELOOP) {
    return false;  // a link, or behind one
  }
  if (!source) {
    return Fail(std::move(source).error());
  }
  struct stat st {};
  if (fstat(source->get(), &st) != 0 || !S_ISREG(st.st_mode)) {
    return false;
  }
  if (static_cast<std::uint64_t>(st.st_size) > kMaxIncludedBytes) {
    return Fail(Code::kLimit, Quoted(path) + " is too large to be copied into a lane",
                "leave it out of .worktreeinclude");
  }
  for (std::size_t slash = path.find('/'); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    MACO_TRY(to.OpenOrCreate(path.substr(0, slash), 0777));
  }
  auto copy = to.OpenFile(path, O_WRONLY | O_CREAT | O_EXCL, st.st_mode & 0777U);
  if (!copy) {
    return copy.error().code == Code::kExists ? Result<bool>(false) : Fail(copy.error());
  }
  MACO_TRY(CopyBytes(source->get(), copy->get(), static_cast<std::uint64_t>(st.st_size)));
  return true;
}

Result<void> WriteFileIn(const Directory& directory, const std::string& name,
                         const std::string& text) {
  UniqueFd fd;
  MACO_ASSIGN(fd, directory.OpenFile(name, O_WRONLY | O_CREAT | O_TRUNC, 0644));
  return WriteAll(fd.get(), AsBytes(text));
}

// As git-config(1) quotes a value.
std::string ConfigText(const std::string& value) {
  std::string out = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') {
      out += '\\';
    }
    out += c == '\n' ? ' ' : c;
  }
  return out + "\"";
}

// None if the index of the working tree cannot be read: it may have any of git's forms.
Result<std::size_t> CloneInto(const LaneGit& git, const Place& place, const Lane& lane,
                              const std::string& index) {
  const std::size_t hash_bytes = lane.base.size() / 2;
  const auto base = BaseIndex::Read(git.base_index(), hash_bytes);
  if (!base) {
    return Fail(base.error());
  }
  // A copy: it is mapped, and others may cut theirs short.
  const auto copy = TemporaryIndex::Create(git, index);
  if (!copy) {
    return Fail(copy.error());
  }
  const auto now = BaseIndex::Read(copy->path(), hash_bytes);
  const UniqueFd file(open(git.base_index().c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.valid()) {
    return FailOs(errno, "open", git.base_index());
  }
  return now ? CloneFiles(place.repository.worktree, *now, lane.path, *base, file.get())
             : Result<std::size_t>(0);
}

// A time that makes git believe the entries: what is younger than its index it would read again.
Result<void> MakeIndexOld(const std::string& path) {
  const std::array<timespec, 2> never{};  // is no time to git
  return utimensat(AT_FDCWD, path.c_str(), never.data(), 0) == 0
             ? Result<void>()
             : FailOs(errno, "set the time of", path);
}

}  // namespace

Result<std::size_t> CheckOutBase(const LaneGit& git, const Place& place, const Lane& lane) {
  const LaneGit::Call call{lane.path, git.base_index(), "", std::nullopt, {}};
  const std::string index = place.repository.git_dir + "/index";
  if (place.repository.worktree.empty() || !SharesBlocks(index, lane.path)) {
    MACO_TRY(git.Ask({"read-tree", "--no-recurse-submodules", "-m", "-u", lane.base}, call));
    return std::size_t{0};
  }
  MACO_TRY(git.Ask({"read-tree", "--no-recurse-submodules", lane.base}, call));
  std::size_t cloned = 0;
  MACO_ASSIGN(cloned, CloneInto(git, place, lane, index));
  MACO_TRY(MakeIndexOld(git.base_index()));
  MACO_TRY(git.Ask({"checkout-index", "-q", "-f", "-u", "-a"}, call));
  return cloned;
}

Result<void> GiveIndex(const LaneGit& git, const Lane& lane) {
  UniqueFd source(open(git.base_index().c_str(), O_RDONLY | O_CLOEXEC));
  struct stat st {};
  if (!source.valid() || fstat(source.get(), &st) != 0) {
    return FailOs(errno, "open", git.base_index());
  }
  Directory admin;
  MACO_ASSIGN(admin, Directory::OpenPath(lane.git_dir));
  UniqueFd index;
  MACO_ASSIGN(index, admin.OpenFile("index", O_WRONLY | O_CREAT | O_TRUNC, 0644));
  return CopyBytes(source.get(), index.get(), static_cast<std::uint64_t>(st.st_size));
}

Result<std::vector<std::string>> CopyIncluded(const LaneGit& git, const Place& place,
                                              const Lane& lane, const std::string& include_file) {
  std::vector<std::string> out;
  if (place.repository.worktree.empty()) {
    return out;
  }
  const std::string patterns =
      include_file.starts_with('/') ? include_file : place.repository.worktree + "/" + include_file;
  if (access(patterns.c_str(), R_OK) != 0) {
    return out;
  }
  const LaneGit::Call call{place.repository.worktree, git.base_index(), "", std::nullopt, {}};
  std::string named;
  MACO_ASSIGN(named, git.Ask({"ls-files", "-z", "-o", "-i", "--exclude-from=" + patterns}, call));
  // By the rules of the lane, as a capture has them: else it would take what is copied.
  std::string question;
  for (const auto& path : ZeroFields(named)) {
    question += "./" + path + '\0';  // so that no name is taken for a pattern
  }
  SpawnResult ignored;
  MACO_ASSIGN(ignored,
              git.Run({"check-ignore", "--stdin", "-z"},
                      {lane.path, git.base_index(), "", question, {"GIT_LITERAL_PATHSPECS=0"}}));
  if (ignored.signal != 0 || ignored.exit_status > 1) {  // 1: none of them
    return Fail(GitFailure("check-ignore", ignored));
  }
  Directory from;
  Directory to;
  MACO_ASSIGN(from, Directory::OpenPath(place.repository.worktree));
  MACO_ASSIGN(to, Directory::OpenPath(lane.path));
  for (const auto& field : ZeroFields(ignored.output)) {
    const std::string path = field.substr(std::min(field.size(), std::size_t{2}));
    if (path.ends_with('/')) {
      continue;  // a repository of its own
    }
    if (out.size() == kMaxIncluded) {
      return Fail(Code::kLimit,
                  "more than " + std::to_string(kMaxIncluded) + " ignored files would be copied",
                  "name fewer in " + include_file);
    }
    bool copied = false;
    MACO_ASSIGN(copied, CopyFile(from, to, path));
    if (copied) {
      out.push_back(path);
    }
  }
  return out;
}

Result<void> MakePrivateGit(const Place& place, const Lane& lane) {
  Directory tree;
  MACO_ASSIGN(tree, Directory::OpenPath(lane.path));
  Directory top;
  MACO_ASSIGN(top, tree.Create(".git", 0755));
  for (const char* name : {"objects", "objects/info", "objects/pack", "refs", "refs/heads",
                           "refs/heads/maco", "refs/tags", "info", "hooks", "logs"}) {
    MACO_TRY(top.Create(name, 0755));
  }
  const bool sha256 = lane.format == "sha256";
  std::string config = std::string("[core]\n\trepositoryformatversion = ") + (sha256 ? "1" : "0") +
                       "\n\tbare = false\n\tfilemode = true\n\tlogallrefupdates = true\n"
                       "\tautocrlf = " +
                       place.auto_crlf + "\n\teol = " + place.eol + "\n";
  if (sha256) {
    config += "[extensions]\n\tobjectformat = sha256\n";
  }
  if (!place.user_name.empty() && !place.user_email.empty()) {
    config += "[user]\n\tname = " + ConfigText(place.user_name) +
              "\n\temail = " + ConfigText(place.user_email) + "\n";
  }
  MACO_TRY(WriteFileIn(top, "objects/info/alternates", place.repository.common_dir + "/objects\n"));
  MACO_TRY(WriteFileIn(top, "info/exclude", ""));
  // Of a shallow clone: where history ends.
  constexpr std::size_t kMaxShallow = std::size_t{16} << 20U;
  if (const auto shallow = ReadPath(place.repository.common_dir + "/shallow", kMaxShallow)) {
    MACO_TRY(WriteFileIn(top, "shallow", *shallow));
  }
  MACO_TRY(WriteFileIn(top, "config", config));
  // Says that this is the common directory: whoever works here cannot say otherwise.
  MACO_TRY(WriteFileIn(top, "commondir", ".\n"));
  MACO_TRY(WriteFileIn(top, lane.branch, lane.base + "\n"));
  return WriteFileIn(top, "HEAD", "ref: " + lane.branch + "\n");
}

}  // namespace maco::worktree

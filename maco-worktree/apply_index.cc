// Entries are read and written in a copy, with our settings.
// Contract: maco-worktree/apply_index.h.
#include "maco-worktree/apply_index.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <map>

#include "libcommon/base/byte_codec.h"
#include "libcommon/base/text.h"
#include "libcommon/os/fd.h"
#include "maco-worktree/temporary_index.h"

namespace maco::worktree {
namespace {

constexpr std::string_view kNone = "000000";

// "MODE OID" of the entries; those that are not merged are under no path that is one.
Result<std::map<std::string, std::string>> EntriesOf(const LaneGit& git, const std::string& index) {
  std::string text;
  MACO_ASSIGN(text, git.Ask({"ls-files", "--stage", "-z"}, {"", index, "", std::nullopt, {}}));
  std::map<std::string, std::string> out;
  for (const auto& line : ZeroFields(text)) {
    const std::size_t tab = line.find('\t');
    const auto fields = Split(std::string_view(line).substr(0, tab), ' ');
    if (tab != std::string::npos && fields.size() == 3) {
      const std::string entry = std::string(fields[0]) + " " + std::string(fields[1]);
      out[line.substr(tab + 1)] = fields[2] == "0" ? entry : "not merged";
    }
  }
  return out;
}

bool Matches(const std::map<std::string, std::string>& entries, const Change& change, Side side) {
  const std::string& mode = side == Side::kNew ? change.new_mode : change.old_mode;
  const std::string& oid = side == Side::kNew ? change.new_oid : change.old_oid;
  const auto entry = entries.find(change.path);
  return mode == kNone ? entry == entries.end()
                       : entry != entries.end() && entry->second == mode + " " + oid;
}

Error ChangedSince(const std::string& path) {
  return MakeError(Code::kRefused,
                   Quoted(path) + " was changed in the index since the apply was cut short",
                   "unstage it: git restore --staged PATH, and call it again");
}

// Whether all are as `to` says already. Errors: kRefused (one is neither that nor the other).
Result<bool> AreAll(const LaneGit& git, const std::string& index,
                    const std::vector<Change>& changes, Side to) {
  std::map<std::string, std::string> entries;
  MACO_ASSIGN(entries, EntriesOf(git, index));
  bool all = true;
  for (const auto& change : changes) {
    const bool as_wanted = Matches(entries, change, to);
    all = all && as_wanted;
    if (!as_wanted && !Matches(entries, change, to == Side::kNew ? Side::kOld : Side::kNew)) {
      return Fail(ChangedSince(change.path));
    }
  }
  return all;
}

Result<void> PutIndex(const Apply& row, const std::string& index) {
  const std::string beside = row.git_dir + "/index.maco-" + row.id;
  const std::string place = row.git_dir + "/index";
  unlink(beside.c_str());
  MACO_TRY(CopyIndex(index, beside));
  UniqueFd fd(open(beside.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) {
    return FailOs(errno, "open", beside);
  }
  struct stat st {};
  if (stat(place.c_str(), &st) == 0) {
    chmod(beside.c_str(), st.st_mode & 0777U);
  }
  MACO_TRY(Sync(fd.get()));
  Directory git_dir;
  MACO_ASSIGN(git_dir, Directory::OpenPath(row.git_dir));
  return git_dir.Rename("index.maco-" + row.id, "index");
}

}  // namespace

Result<void> CheckIndex(const LaneGit& git, const Apply& row, const std::vector<Change>& changes) {
  auto copy = TemporaryIndex::Create(git, row.git_dir + "/index");
  if (!copy) {
    return Fail(std::move(copy).error());
  }
  MACO_TRY(AreAll(git, copy->path(), changes, Side::kNew));
  return {};
}

Result<void> TurnIndex(const LaneGit& git, const Apply& row, const std::vector<Change>& changes,
                       Side to) {
  auto copy = TemporaryIndex::Create(git, row.git_dir + "/index");
  if (!copy) {
    return Fail(std::move(copy).error());
  }
  bool done = false;
  MACO_ASSIGN(done, AreAll(git, copy->path(), changes, to));
  if (done) {
    return {};
  }
  LaneGit::Call call{row.worktree, copy->path(), "", IndexInfo(changes, to), {}};
  MACO_TRY(git.Ask({"update-index", "-z", "--index-info"}, call));
  call.input = std::nullopt;
  MACO_TRY(git.Run({"update-index", "-q", "--refresh"}, call));
  return PutIndex(row, copy->path());
}

}  // namespace maco::worktree

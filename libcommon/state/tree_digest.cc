// Depth-first digest with one open directory for each level.
// Contract: libcommon/state/tree_digest.h.
#include "libcommon/state/tree_digest.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <string>
#include <vector>

#include "libcommon/base/byte_codec.h"

namespace maco {
namespace {

constexpr unsigned kMaxDepth = 512;
constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 50U;

class Walk {
 public:
  Walk(std::uint64_t max_entries, const std::string& excluded)
      : max_entries_(max_entries), excluded_(excluded) {}

  std::uint64_t entries() const { return entries_; }

  Result<Digest> OfDirectory(const Directory& directory, const std::string& path, unsigned depth) {
    if (depth > kMaxDepth) {
      return Fail(Code::kLimit, "a directory tree is nested deeper than 512");
    }
    std::vector<std::string> names;
    MACO_ASSIGN(names, directory.List(max_entries_ - entries_ + 1));
    std::ranges::sort(names);
    Sha256Stream stream;
    for (const auto& name : names) {
      const std::string below = path.empty() ? name : path + "/" + name;
      if ((depth == 0 && name == ".git") || below == excluded_) {
        continue;
      }
      if (++entries_ > max_entries_) {
        return Fail(Code::kLimit,
                    "a worktree holds more than " + std::to_string(max_entries_) + " entries");
      }
      ByteWriter out;
      MACO_TRY(Entry(directory, name, below, depth, out));
      stream.Update(out.bytes());
    }
    return stream.Finish();
  }

 private:
  Result<void> Entry(const Directory& directory, const std::string& name, const std::string& path,
                     unsigned depth, ByteWriter& out) {
    FileIdentity identity;
    MACO_ASSIGN(identity, directory.Stat(name));
    out.U32(identity.mode & (S_IFMT | 07777U));
    out.String(name);
    Digest digest{};
    if (S_ISDIR(identity.mode)) {
      Directory below;
      MACO_ASSIGN(below, directory.Open(name));
      MACO_ASSIGN(digest, OfDirectory(below, path, depth + 1));
      out.Raw(digest);
    } else if (S_ISREG(identity.mode)) {
      UniqueFd fd;
      MACO_ASSIGN(fd, directory.OpenFile(name, O_RDONLY | O_NONBLOCK));
      MACO_ASSIGN(digest, Sha256OfFile(fd.get(), kMaxFileBytes));
      out.Raw(digest);
    } else if (S_ISLNK(identity.mode)) {
      std::array<char, PATH_MAX> target{};
      const ssize_t length = readlinkat(directory.fd(), name.c_str(), target.data(), target.size());
      if (length < 0) {
        return FailOs(errno, "read link", name);
      }
      out.String({target.data(), static_cast<std::size_t>(length)});
    }
    return {};
  }

  std::uint64_t max_entries_;
  const std::string& excluded_;
  std::uint64_t entries_ = 0;
};

}  // namespace

Result<TreeDigest> DigestTree(const Directory& root, std::uint64_t max_entries,
                              const std::string& excluded) {
  Walk walk(max_entries, excluded);
  TreeDigest out;
  MACO_ASSIGN(out.digest, walk.OfDirectory(root, "", 0));
  out.entries = walk.entries();
  return out;
}

}  // namespace maco

// A map of the file; fixed fields of big-endian words, checked against the end of the file.
// Contract: maco-worktree/base_index.h.
#include "maco-worktree/base_index.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <functional>
#include <span>
#include <utility>

#include "libcommon/base/byte_codec.h"
#include "libcommon/base/text.h"
#include "libcommon/os/fd.h"

namespace maco::worktree {
namespace {

constexpr std::size_t kHeader = 12;  // "DIRC", version, number of entries
constexpr std::size_t kStat = 40;  // ctime, mtime (two words each), dev, ino, mode, uid, gid, size
constexpr std::uint16_t kExtended = 0x4000;

// Where each word lies in the fields of lstat.
enum Word : std::size_t {
  kCtime = 0,
  kCtimeNanos = 4,
  kMtime = 8,
  kMtimeNanos = 12,
  kInode = 20,
  kMode = 24,
  kUid = 28,
  kGid = 32,
  kSize = 36
};

std::uint32_t WordAt(const char* at) {
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    out = out << 8U | static_cast<unsigned char>(at[i]);
  }
  return out;
}

bool IsBefore(std::uint32_t seconds, std::uint32_t nanos, const timespec& time) {
  return seconds != time.tv_sec ? seconds < time.tv_sec : nanos < time.tv_nsec;
}

Error Damaged() {
  return MakeError(Code::kCorrupt, "the index of a lane's base is damaged",
                   "remove the lane and make it again");
}

}  // namespace

Result<BaseIndex> BaseIndex::Read(const std::string& path, std::size_t hash_bytes) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat st {};
  if (!file.valid() || fstat(file.get(), &st) != 0) {
    return FailOs(errno, "open", path);
  }
  BaseIndex out(hash_bytes);
  out.written_ = st.st_mtim;
  const auto size = static_cast<std::size_t>(st.st_size);
  if (size < kHeader + hash_bytes || size > UINT32_MAX) {
    return Fail(Damaged());
  }
  // Nobody but us writes it, and we write it once: it does not become shorter.
  void* const map = mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file.get(), 0);
  if (map == MAP_FAILED) {
    return FailOs(errno, "map", path);
  }
  out.text_ = {static_cast<const char*>(map), size};
  MACO_TRY(out.ReadEntries());
  out.MakeTable();
  return out;
}

BaseIndex::BaseIndex(BaseIndex&& other) noexcept
    : hash_bytes_(other.hash_bytes_),
      text_(std::exchange(other.text_, {})),
      written_(other.written_),
      offsets_(std::move(other.offsets_)),
      table_(std::move(other.table_)),
      tree_(std::move(other.tree_)) {}

BaseIndex::~BaseIndex() {
  if (text_.data() != nullptr) {
    munmap(const_cast<char*>(text_.data()), text_.size());  // as mmap gave it
  }
}

// Versions 2 and 3 differ in one more field of some entries.
std::size_t BaseIndex::NameAt(std::size_t offset) const {
  const std::size_t fixed = kStat + hash_bytes_ + 2;
  const auto flags = static_cast<std::uint16_t>(WordAt(text_.data() + offset + fixed - 4));
  return offset + fixed + ((flags & kExtended) != 0 ? 2 : 0);
}

Result<void> BaseIndex::ReadEntries() {
  if (!text_.starts_with("DIRC")) {
    return Fail(Damaged());
  }
  const std::uint32_t version = WordAt(text_.data() + 4);
  if (version != 2 && version != 3) {
    return Fail(Code::kUnsupported,
                "the index of a lane's base has version " + std::to_string(version),
                "remove the lane and make it again");
  }
  const std::size_t end = text_.size() - hash_bytes_;  // of what is not the checksum
  const std::uint32_t count = WordAt(text_.data() + 8);
  const std::size_t fixed = kStat + hash_bytes_ + 2;
  if (count > end / fixed) {
    return Fail(Damaged());
  }
  offsets_.reserve(count);
  std::size_t at = kHeader;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (at + fixed > end) {
      return Fail(Damaged());
    }
    const std::size_t name = NameAt(at);
    const std::size_t name_end = name < end ? text_.find('\0', name) : end;
    if (name_end >= end || name_end == name) {
      return Fail(Damaged());
    }
    offsets_.push_back(static_cast<std::uint32_t>(at));
    at += (name_end - at + 8) / 8 * 8;  // one to eight zero bytes
  }
  return ReadExtensions(at, end);
}

// The extension TREE begins with the entry of the whole: an empty name, the number of its entries
// (-1: not noted), the number of its trees, and its id. Who does not know one with a small letter
// does not know what the index holds.
Result<void> BaseIndex::ReadExtensions(std::size_t begin, std::size_t end) {
  constexpr std::size_t kHead = 8;  // its name and its size
  for (std::size_t at = begin; at != end;) {
    if (at > end || end - at < kHead || WordAt(text_.data() + at + 4) > end - at - kHead) {
      return Fail(Damaged());
    }
    const std::string_view name = text_.substr(at, 4);
    const std::string_view body = text_.substr(at + kHead, WordAt(text_.data() + at + 4));
    if (name.front() >= 'a' && name.front() <= 'z') {
      return Fail(Code::kUnsupported,
                  "the index of a lane's base has the extension '" + std::string(name) + "'",
                  "remove the lane and make it again");
    }
    const std::size_t line = body.find('\n');
    if (name == "TREE" && body.starts_with('\0') && line != std::string_view::npos &&
        body[1] != '-' && body.size() - line - 1 >= hash_bytes_) {
      tree_ = ToHex(AsBytes(body.substr(line + 1, hash_bytes_)));
    }
    at += kHead + body.size();
  }
  return {};
}

// Half of it stays empty, so that a search ends soon.
void BaseIndex::MakeTable() {
  table_.resize(std::bit_ceil(2 * offsets_.size() + 1));
  for (std::size_t i = 0; i < offsets_.size(); ++i) {
    std::size_t slot = std::hash<std::string_view>()(PathOf(i)) % table_.size();
    while (table_[slot] != 0) {
      slot = (slot + 1) % table_.size();
    }
    table_[slot] = static_cast<std::uint32_t>(i + 1);
  }
}

std::string_view BaseIndex::PathOf(std::size_t entry) const {
  return text_.data() + NameAt(offsets_[entry]);
}

std::uint32_t BaseIndex::ModeOf(std::size_t entry) const {
  return WordAt(text_.data() + offsets_[entry] + kMode);
}

std::uint32_t BaseIndex::SizeOf(std::size_t entry) const {
  return WordAt(text_.data() + offsets_[entry] + kSize);
}

std::string_view BaseIndex::IdOf(std::size_t entry) const {
  return text_.substr(offsets_[entry] + kStat, hash_bytes_);
}

std::optional<std::size_t> BaseIndex::Find(std::string_view path) const {
  std::size_t slot = std::hash<std::string_view>()(path) % table_.size();
  for (; table_[slot] != 0; slot = (slot + 1) % table_.size()) {
    const std::size_t entry = table_[slot] - 1;
    const std::string_view rest = text_.substr(NameAt(offsets_[entry]));
    if (rest.starts_with(path) && rest[path.size()] == '\0') {
      return entry;
    }
  }
  return std::nullopt;
}

bool BaseIndex::HasBelow(std::string_view directory) const {
  const std::string prefix = std::string(directory) + "/";
  std::size_t first = 0;
  for (std::size_t end = size(); first < end;) {
    const std::size_t middle = first + (end - first) / 2;
    if (PathOf(middle) < prefix) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  return first < size() && PathOf(first).starts_with(prefix);
}

Result<void> BaseIndex::WriteWithoutStat(int fd, const std::vector<std::string_view>& paths) const {
  constexpr std::array<std::uint8_t, kMode> kNothing{};
  MACO_TRY(WriteAll(fd, AsBytes(text_)));
  for (const auto path : paths) {
    if (const auto entry = Find(path)) {
      MACO_TRY(PwriteAll(fd, kNothing, offsets_[*entry]));
      MACO_TRY(PwriteAll(fd, std::span(kNothing).first(kStat - kUid), offsets_[*entry] + kUid));
    }
  }
  return {};
}

Result<void> BaseIndex::PutStat(int fd, std::size_t entry, const struct stat& st) const {
  ByteWriter words;
  const auto put = [&words](auto value) {
    const auto word = static_cast<std::uint32_t>(value);
    for (unsigned shift = 32; shift != 0; shift -= 8) {
      words.U8(static_cast<std::uint8_t>(word >> (shift - 8)));
    }
  };
  put(st.st_ctim.tv_sec);
  put(st.st_ctim.tv_nsec);
  put(st.st_mtim.tv_sec);
  put(st.st_mtim.tv_nsec);
  put(st.st_dev);
  put(st.st_ino);
  put(ModeOf(entry));
  put(st.st_uid);
  put(st.st_gid);
  put(st.st_size);
  return PwriteAll(fd, words.bytes(), offsets_[entry]);
}

bool BaseIndex::IsUnchanged(std::size_t entry, const struct stat& st) const {
  const char* const fields = text_.data() + offsets_[entry];
  const auto is = [fields](Word word, auto value) {
    return WordAt(fields + word) == static_cast<std::uint32_t>(value);
  };
  const std::uint32_t mode = WordAt(fields + kMode);
  const bool kind = S_ISLNK(mode) ? S_ISLNK(st.st_mode)
                                  : S_ISREG(mode) && S_ISREG(st.st_mode) &&
                                        (mode & S_IXUSR) == (st.st_mode & S_IXUSR);
  return kind && is(kCtime, st.st_ctim.tv_sec) && is(kCtimeNanos, st.st_ctim.tv_nsec) &&
         is(kMtime, st.st_mtim.tv_sec) && is(kMtimeNanos, st.st_mtim.tv_nsec) &&
         is(kInode, st.st_ino) && is(kUid, st.st_uid) && is(kGid, st.st_gid) &&
         is(kSize, st.st_size) &&
         IsBefore(WordAt(fields + kCtime), WordAt(fields + kCtimeNanos), written_) &&
         IsBefore(WordAt(fields + kMtime), WordAt(fields + kMtimeNanos), written_);
}

}  // namespace maco::worktree

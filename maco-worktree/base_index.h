// BaseIndex: an index file of ours, read: which files the base has, and how lstat(2) saw each.
// Source: gitformat-index(5). Requirement WT-03; design 3.15.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcommon/base/result.h"

namespace maco::worktree {

// The file is mapped and its entries are numbers: memory that is touched for the first time is what
// a look at a large lane would cost otherwise.
class BaseIndex {
 public:
  // `hash_bytes`: of an object id, 20 or 32. Errors: kCorrupt, kUnsupported (another version, or
  // one that needs a second file), kNotFound, kIo.
  static Result<BaseIndex> Read(const std::string& path, std::size_t hash_bytes);
  BaseIndex(BaseIndex&& other) noexcept;
  BaseIndex& operator=(BaseIndex&&) = delete;
  ~BaseIndex();

  // Entries have the numbers from 0 on, in the order of the bytes of their paths.
  std::size_t size() const { return offsets_.size(); }
  std::string_view PathOf(std::size_t entry) const;
  std::uint32_t ModeOf(std::size_t entry) const;
  std::uint32_t SizeOf(std::size_t entry) const;   // modulo 2^32
  std::string_view IdOf(std::size_t entry) const;  // as bytes
  std::optional<std::size_t> Find(std::string_view path) const;
  // Whether it has an entry below that directory.
  bool HasBelow(std::string_view directory) const;
  // Whether a file is what it was when the entry was written, told by what lstat says alone: its
  // time of change cannot be set, and what was as young as the index itself is not believed.
  bool IsUnchanged(std::size_t entry, const struct stat& st) const;
  // Writes the index to a new file, in which these paths have lost what lstat said: so git reads
  // the files, whatever their times are. Errors: kLimit (disk full), kIo.
  Result<void> WriteWithoutStat(int fd, const std::vector<std::string_view>& paths) const;
  // Notes in the index file `fd` how lstat sees a file that has the content of an entry.
  Result<void> PutStat(int fd, std::size_t entry, const struct stat& st) const;
  // The tree that git has noted for the whole, in hex; empty: none.
  const std::string& tree() const { return tree_; }

 private:
  explicit BaseIndex(std::size_t hash_bytes) : hash_bytes_(hash_bytes) {}
  Result<void> ReadEntries();
  Result<void> ReadExtensions(std::size_t begin, std::size_t end);
  void MakeTable();
  std::size_t NameAt(std::size_t offset) const;

  std::size_t hash_bytes_;
  std::string_view text_;  // mapped
  timespec written_{};
  std::vector<std::uint32_t> offsets_;  // of the entries
  std::vector<std::uint32_t> table_;    // by hash of the path: number of the entry and 1, or 0
  std::string tree_;
};

}  // namespace maco::worktree

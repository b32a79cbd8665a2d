// NamelessFiles: what files of a run take that no name leads to any more, but a process holds
// (RUN-14).
#pragma once
#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace maco::run {

// Called every few hundred steps of a long look; false: break it off.
using Breath = std::function<bool()>;

class NamelessFiles {
 public:
  // Files on `apart` are not meant: other file systems that are counted as a whole. On `roots` lie
  // the writable roots. Memory files are not meant either.
  NamelessFiles(std::set<dev_t> roots, std::set<dev_t> apart);

  // All that the threads of these processes hold. Returns false when it was broken off.
  bool Add(const std::vector<pid_t>& processes, const Breath& breath);

  std::uint64_t bytes() const { return bytes_; }  // allocated

  // False after something that could hide a file, or its size: a process or its memory map that
  // cannot be read, a deleted file that is only mapped, descriptors on their way in a socket.
  bool whole() const { return whole_; }

 private:
  bool AddOpen(pid_t pid, const Breath& breath);
  bool AddMapped(pid_t pid, const Breath& breath);
  bool AddDescriptors(const std::string& task, const Breath& breath);
  void AddDescriptor(const std::string& task, const std::string& number, int directory);
  bool AddMaps(const std::string& task, const Breath& breath);
  void AddProgram(const std::string& task);
  void Unreadable(const std::string& task, int os_errno);
  bool Counts(dev_t device) const { return !apart_.contains(device); }
  void Take(const struct stat& st, const std::string& path);

  std::set<dev_t> roots_;
  std::set<dev_t> apart_;
  std::set<std::pair<dev_t, ino_t>> seen_;
  std::uint64_t bytes_ = 0;
  unsigned steps_ = 0;
  bool whole_ = true;
};

}  // namespace maco::run

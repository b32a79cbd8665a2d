// A tolerant walk over the roots, statfs for the rest.
// Contract: maco-run/supervise/disk_use.h. Source: proc(5) on fd, maps and root.
#include "maco-run/supervise/disk_use.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <set>

#include "libcommon/base/text.h"
#include "libcommon/os/bounded_read.h"

namespace maco::run {
namespace {

constexpr std::uint64_t kBlock = 512;  // of st_blocks, stat(2)
constexpr int kMaxDepth = 256;
constexpr std::size_t kMaxMaps = std::size_t{8} << 20U;

struct CloseDir {
  void operator()(DIR* dir) const { closedir(dir); }
};
using Dir = std::unique_ptr<DIR, CloseDir>;

bool IsDots(const char* name) {
  return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

// What is below `fd`, which is taken over. Another file system is not entered. (Only directories
// tell: on an overlay, files have other device numbers than the directories they are in.)
// `whole` becomes false if a directory that is there cannot be read.
std::uint64_t Walk(UniqueFd fd, dev_t device, int depth, bool& whole) {
  Dir dir(fdopendir(fd.get()));
  if (!dir) {
    whole = false;
    return 0;
  }
  [[maybe_unused]] const int taken = fd.Release();
  std::uint64_t sum = 0;
  while (const dirent* entry = readdir(dir.get())) {
    struct stat st {};
    if (IsDots(entry->d_name) ||
        fstatat(dirfd(dir.get()), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
        (S_ISDIR(st.st_mode) && st.st_dev != device)) {
      continue;
    }
    sum += static_cast<std::uint64_t>(st.st_blocks) * kBlock;
    if (S_ISDIR(st.st_mode)) {
      UniqueFd below(
          openat(dirfd(dir.get()), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      const bool gone = !below.valid() && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP);
      if (gone) {
        continue;
      }
      if (!below.valid() || depth == kMaxDepth) {
        whole = false;
      } else {
        sum += Walk(std::move(below), device, depth + 1, whole);
      }
    }
  }
  return sum;
}

std::uint64_t WalkRoot(const Directory& root, dev_t device, bool& whole) {
  UniqueFd fd(openat(root.fd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  whole = whole && fd.valid();
  return fd.valid() ? Walk(std::move(fd), device, 0, whole) : 0;
}

std::uint64_t Taken(int fd) {
  struct statfs fs {};
  if (fstatfs(fd, &fs) != 0) {
    return 0;
  }
  return static_cast<std::uint64_t>(fs.f_blocks - fs.f_bfree) *
         static_cast<std::uint64_t>(fs.f_bsize);
}

bool LiesInMemory(const std::string& path) {
  constexpr long kTmpfs = 0x01021994;
  struct statfs fs {};
  return statfs(path.c_str(), &fs) == 0 && static_cast<long>(fs.f_type) == kTmpfs;
}

bool IsMemoryName(std::string_view line) {
  for (const char* name : {" /memfd:", " /dev/zero (", " /SYSV"}) {
    if (line.find(name) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

// Files that have lost their last name, of one process: open ones, and mapped ones by the size of
// the mapping (their blocks cannot be asked for). Those of the private directories, and memory
// files, are not meant: the former are counted with their file system, the latter are memory.
class Nameless {
 public:
  Nameless(const std::set<dev_t>& roots, const std::set<dev_t>& other)
      : roots_(roots), other_(other) {}

  void Add(pid_t pid) {
    const std::string proc = "/proc/" + std::to_string(pid);
    AddOpen(proc + "/fd");
    AddMapped(proc + "/maps");
  }

  std::uint64_t sum() const { return sum_; }

 private:
  void AddOpen(const std::string& path) {
    Dir dir(opendir(path.c_str()));
    while (const dirent* entry = dir ? readdir(dir.get()) : nullptr) {
      struct stat st {};
      if (fstatat(dirfd(dir.get()), entry->d_name, &st, 0) == 0 && S_ISREG(st.st_mode) &&
          st.st_nlink == 0 && Counts(st.st_dev) &&
          (roots_.contains(st.st_dev) || !LiesInMemory(path + "/" + entry->d_name)) &&
          seen_.emplace(st.st_dev, st.st_ino).second) {
        sum_ += static_cast<std::uint64_t>(st.st_blocks) * kBlock;
      }
    }
  }

  void AddMapped(const std::string& path) {
    const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const auto text = fd.valid() ? ReadAll(fd.get(), kMaxMaps) : Fail(Code::kIo, "");
    for (const auto line : Split(text ? *text : std::string(), '\n')) {
      std::uint64_t from = 0;
      std::uint64_t to = 0;
      unsigned major_number = 0;
      unsigned minor_number = 0;
      ino_t inode = 0;
      if (line.ends_with(" (deleted)") && !IsMemoryName(line) &&
          sscanf(std::string(line).c_str(), "%" SCNx64 "-%" SCNx64 " %*s %*x %x:%x %lu", &from, &to,
                 &major_number, &minor_number, &inode) == 5 &&
          Counts(makedev(major_number, minor_number)) &&
          seen_.emplace(makedev(major_number, minor_number), inode).second) {
        sum_ += to - from;
      }
    }
  }

  bool Counts(dev_t device) const { return !other_.contains(device); }

  const std::set<dev_t>& roots_;
  const std::set<dev_t>& other_;
  std::set<std::pair<dev_t, ino_t>> seen_;
  std::uint64_t sum_ = 0;
};

}  // namespace

Result<DiskUse> DiskUse::Open(const RunSpec& spec, pid_t target) {
  DiskUse use;
  for (const auto& root : spec.roots) {
    if (!root.writable || !root.scan) {
      continue;
    }
    const bool inside_another = std::ranges::any_of(spec.roots, [&](const auto& other) {
      return other.writable && other.scan && root.path.starts_with(other.path + "/");
    });
    if (inside_another) {
      continue;
    }
    Root out;
    MACO_ASSIGN(out.directory, root.directory.Clone());
    out.device = root.identity.device;
    bool whole = true;
    out.at_start = WalkRoot(out.directory, out.device, whole);
    out.taken_at_start = Taken(out.directory.fd());
    use.roots_.push_back(std::move(out));
  }
  for (const auto& directory : spec.private_directories) {
    if (!directory.writable) {
      continue;
    }
    const std::string path = "/proc/" + std::to_string(target) + "/root" + directory.path;
    UniqueFd fd(open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!fd.valid()) {
      return FailOs(errno, "open the run's own", directory.path);
    }
    use.private_.push_back(std::move(fd));
  }
  use.Rebase();
  return use;
}

void DiskUse::Rebase() {
  for (auto& root : roots_) {
    root.taken_then = Taken(root.directory.fd());
  }
}

std::uint64_t DiskUse::Private() const {
  std::uint64_t sum = 0;
  for (const auto& fd : private_) {
    sum += Taken(fd.get());
  }
  return sum;
}

std::uint64_t DiskUse::Estimate() {
  std::uint64_t sum = Private() + grown_;
  for (const auto& root : roots_) {
    const std::uint64_t now = Taken(root.directory.fd());
    sum += now > root.taken_then ? now - root.taken_then : 0;
  }
  return sum;
}

std::uint64_t DiskUse::Measure(const std::vector<pid_t>& processes) {
  Rebase();  // before the walk: what is taken during it counts again in the next estimate
  grown_ = 0;
  std::set<dev_t> devices;
  for (const auto& root : roots_) {
    bool whole = true;
    const std::uint64_t now = WalkRoot(root.directory, root.device, whole);
    std::uint64_t grown = now > root.at_start ? now - root.at_start : 0;
    const std::uint64_t taken = Taken(root.directory.fd());
    if (!whole && taken > root.taken_at_start) {
      grown = std::max(grown, taken - root.taken_at_start);
    }
    grown_ += grown;
    devices.insert(root.device);
  }
  std::set<dev_t> private_devices;
  for (const auto& fd : private_) {
    struct stat st {};
    if (fstat(fd.get(), &st) == 0) {
      private_devices.insert(st.st_dev);
    }
  }
  if (!devices.empty()) {
    Nameless nameless(devices, private_devices);
    for (const pid_t pid : processes) {
      nameless.Add(pid);
    }
    grown_ += nameless.sum();
  }
  return Private() + grown_;
}

}  // namespace maco::run

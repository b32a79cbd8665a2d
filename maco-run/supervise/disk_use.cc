// A tolerant walk over the roots, statfs for the rest.
// Contract: maco-run/supervise/disk_use.h. Source: proc(5) on root.
#include "maco-run/supervise/disk_use.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>

#include "libcommon/base/text.h"
#include "libcommon/os/bounded_read.h"
#include "libcommon/os/proc_status.h"

namespace maco::run {
namespace {

constexpr std::uint64_t kBlock = 512;  // of st_blocks, stat(2)
constexpr int kMaxDepth = 256;
constexpr unsigned kStepsOfABreath = 1024;

struct CloseDir {
  void operator()(DIR* dir) const { closedir(dir); }
};
using Dir = std::unique_ptr<DIR, CloseDir>;

bool IsDots(const char* name) {
  return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

// Sums up trees of one file system. Another one is not entered. (Only directories tell: on an
// overlay, files have other device numbers than the directories they are in.)
class Walker {
 public:
  Walker(dev_t device, const Breath& breath) : device_(device), breath_(breath) {}

  void Walk(UniqueFd fd, int depth = 0) {
    Dir dir(fdopendir(fd.get()));
    if (!dir) {
      whole_ = false;
      return;
    }
    [[maybe_unused]] const int taken = fd.Release();
    while (const dirent* entry = readdir(dir.get())) {
      if (++steps_ % kStepsOfABreath == 0 && !stopped_) {
        stopped_ = !breath_();
      }
      if (stopped_) {
        return;
      }
      if (!IsDots(entry->d_name)) {
        Meet(dirfd(dir.get()), entry->d_name, depth);
      }
    }
  }

  std::uint64_t sum() const { return sum_; }
  bool whole() const { return whole_; }  // false: a directory that is there cannot be read
  bool stopped() const { return stopped_; }

 private:
  void Meet(int directory, const char* name, int depth) {
    struct stat st {};
    if (fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
      whole_ = whole_ && errno == ENOENT;
      return;
    }
    const bool is_directory = S_ISDIR(st.st_mode);
    if (is_directory && st.st_dev != device_) {
      return;
    }
    sum_ += static_cast<std::uint64_t>(st.st_blocks) * kBlock;
    if (!is_directory) {
      return;
    }
    UniqueFd below(openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    const bool gone = !below.valid() && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP);
    if (gone) {
      return;
    }
    if (!below.valid() || depth == kMaxDepth) {
      whole_ = false;
      return;
    }
    Walk(std::move(below), depth + 1);
  }

  dev_t device_;
  const Breath& breath_;
  std::uint64_t sum_ = 0;
  unsigned steps_ = 0;
  bool whole_ = true;
  bool stopped_ = false;
};

Walker WalkRoot(const Directory& root, dev_t device, const Breath& breath) {
  Walker walker(device, breath);
  walker.Walk(UniqueFd(openat(root.fd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  return walker;
}

std::uint64_t Taken(int fd) {
  struct statfs fs {};
  if (fstatfs(fd, &fs) != 0) {
    return 0;
  }
  return static_cast<std::uint64_t>(fs.f_blocks - fs.f_bfree) *
         static_cast<std::uint64_t>(fs.f_bsize);
}

// The parent of a process that does not end meanwhile.
Result<pid_t> ParentOf(pid_t process) {
  std::string text;
  MACO_ASSIGN(text, ReadPath("/proc/" + std::to_string(process) + "/status", 65536));
  StatusFields fields;
  MACO_ASSIGN(fields, ParseStatus(text));
  const auto parent = ParseUint(fields["PPid"]);
  if (!parent || *parent == 0) {
    return Fail(Code::kIo, "a process of the run has no parent that we can see");
  }
  return static_cast<pid_t>(*parent);
}

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
    out.at_start = WalkRoot(out.directory, out.device, [] { return true; }).sum();
    out.taken_at_start = Taken(out.directory.fd());
    out.first = std::ranges::none_of(use.roots_,
                                     [&](const Root& other) { return other.device == out.device; });
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
  pid_t init = 0;
  pid_t outer = 0;
  MACO_ASSIGN(init, ParentOf(target));
  MACO_ASSIGN(outer, ParentOf(init));
  use.trusted_ = {init, outer};
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

std::uint64_t DiskUse::Estimate() const {
  std::uint64_t sum = Private() + grown_;
  for (const auto& root : roots_) {
    const std::uint64_t now = Taken(root.directory.fd());
    sum += root.first && now > root.taken_then ? now - root.taken_then : 0;
  }
  return sum;
}

std::optional<std::uint64_t> DiskUse::Measure(const std::vector<pid_t>& processes,
                                              const Breath& breath) {
  std::vector<std::uint64_t> taken_now;  // before the walk: what is taken during it counts again
  std::set<dev_t> devices;
  for (const auto& root : roots_) {
    taken_now.push_back(Taken(root.directory.fd()));
    devices.insert(root.device);
  }
  std::set<dev_t> apart;
  for (const auto& fd : private_) {
    struct stat st {};
    if (fstat(fd.get(), &st) == 0) {
      apart.insert(st.st_dev);
    }
  }
  std::vector<pid_t> untrusted = processes;
  std::erase_if(untrusted,
                [&](pid_t pid) { return std::ranges::find(trusted_, pid) != trusted_.end(); });
  NamelessFiles nameless(devices, apart);
  if (!roots_.empty() && !nameless.Add(untrusted, breath)) {
    return std::nullopt;
  }
  bool whole = nameless.whole();
  std::uint64_t grown = nameless.bytes();
  for (const auto& root : roots_) {
    const Walker walker = WalkRoot(root.directory, root.device, breath);
    if (walker.stopped()) {
      return std::nullopt;
    }
    whole = whole && walker.whole();
    grown += walker.sum() > root.at_start ? walker.sum() - root.at_start : 0;
  }
  std::uint64_t taken = 0;
  for (const auto& root : roots_) {
    const std::uint64_t now = Taken(root.directory.fd());
    taken += root.first && now > root.taken_at_start ? now - root.taken_at_start : 0;
  }
  grown_ = whole ? grown : std::max(grown, taken);
  for (std::size_t i = 0; i < roots_.size(); ++i) {
    roots_[i].taken_then = taken_now[i];
  }
  return Private() + grown_;
}

}  // namespace maco::run

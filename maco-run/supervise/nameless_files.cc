// Descriptor tables, maps and programs of processes, as /proc shows them.
// Contract: maco-run/supervise/nameless_files.h. Sources: proc(5), kcmp(2), unix(7).
#include "maco-run/supervise/nameless_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <memory>

#include "libcommon/base/text.h"
#include "libcommon/os/bounded_read.h"
#include "libcommon/os/fd.h"

namespace maco::run {
namespace {

constexpr std::uint64_t kBlock = 512;  // of st_blocks, stat(2)
constexpr std::size_t kMaxMaps = std::size_t{8} << 20U;
constexpr unsigned kStepsOfABreath = 256;

struct CloseDir {
  void operator()(DIR* dir) const { closedir(dir); }
};
using Dir = std::unique_ptr<DIR, CloseDir>;

bool Gone(int os_errno) { return os_errno == ENOENT || os_errno == ESRCH; }

// The kernel's own file system of memfd_create(2), shared anonymous mappings and the like. Paths do
// not tell: a run chooses them.
dev_t MemoryDevice() {
  const UniqueFd file(memfd_create("device", MFD_CLOEXEC));
  struct stat st {};
  return file.valid() && fstat(file.get(), &st) == 0 ? st.st_dev : 0;
}

bool LiesInMemory(const std::string& path) {
  constexpr long kTmpfs = 0x01021994;
  struct statfs fs {};
  return statfs(path.c_str(), &fs) == 0 && static_cast<long>(fs.f_type) == kTmpfs;
}

// Whether both have one table of descriptors, so that one look is enough.
bool SameTable(pid_t a, pid_t b) { return syscall(SYS_kcmp, a, b, KCMP_FILES, 0, 0) == 0; }

std::string TaskPath(pid_t pid, pid_t thread) {
  return "/proc/" + std::to_string(pid) + "/task/" + std::to_string(thread);
}

std::vector<pid_t> Threads(pid_t pid, int& os_errno) {
  std::vector<pid_t> out;
  Dir dir(opendir(("/proc/" + std::to_string(pid) + "/task").c_str()));
  os_errno = dir ? 0 : errno;
  while (const dirent* entry = dir ? readdir(dir.get()) : nullptr) {
    if (const auto number = ParseUint(entry->d_name)) {
      out.push_back(static_cast<pid_t>(*number));
    }
  }
  return out;
}

bool IsZombie(const std::string& task) {
  const auto status = ReadPath(task + "/status", 65536);
  return !status || status->find("State:\tZ") != std::string::npos ||
         status->find("State:\tX") != std::string::npos;
}

// Descriptors that were sent to a socket and not yet taken: only their number can be seen.
bool HoldsDescriptors(const std::string& task, const std::string& number) {
  const auto text = ReadPath(task + "/fdinfo/" + number, 65536);
  if (!text) {
    return !Gone(text.error().os_errno);
  }
  return text->find("\nscm_fds: 0\n") == std::string::npos &&
         text->find("\nscm_fds:\t0\n") == std::string::npos;
}

}  // namespace

NamelessFiles::NamelessFiles(std::set<dev_t> roots, std::set<dev_t> apart)
    : roots_(std::move(roots)), apart_(std::move(apart)) {
  if (const dev_t memory = MemoryDevice(); memory != 0 && !roots_.contains(memory)) {
    apart_.insert(memory);
  }
}

// Descriptors of all come first: they tell the size of a file that is mapped too.
bool NamelessFiles::Add(const std::vector<pid_t>& processes, const Breath& breath) {
  for (const pid_t pid : processes) {
    if (!AddOpen(pid, breath)) {
      return false;
    }
  }
  for (const pid_t pid : processes) {
    if (!AddMapped(pid, breath)) {
      return false;
    }
  }
  return true;
}

// Each thread can have a table of its own, also when the first one has ended.
bool NamelessFiles::AddOpen(pid_t pid, const Breath& breath) {
  int os_errno = 0;
  const auto threads = Threads(pid, os_errno);
  if (os_errno != 0 && !Gone(os_errno)) {
    whole_ = false;
  }
  pid_t looked_at = 0;
  for (const pid_t thread : threads) {
    if (looked_at != 0 && SameTable(looked_at, thread)) {
      continue;
    }
    looked_at = thread;
    if (!AddDescriptors(TaskPath(pid, thread), breath)) {
      return false;
    }
  }
  return true;
}

// Threads share their memory; one that has ended shows none.
bool NamelessFiles::AddMapped(pid_t pid, const Breath& breath) {
  int os_errno = 0;
  for (const pid_t thread : Threads(pid, os_errno)) {
    const std::string task = TaskPath(pid, thread);
    if (!IsZombie(task)) {
      AddProgram(task);
      return AddMaps(task, breath);
    }
  }
  return true;
}

// A process that has ended, or whose end nobody has taken note of yet, hides nothing.
void NamelessFiles::Unreadable(const std::string& task, int os_errno) {
  if (!Gone(os_errno) && !IsZombie(task)) {
    whole_ = false;
  }
}

bool NamelessFiles::AddDescriptors(const std::string& task, const Breath& breath) {
  Dir dir(opendir((task + "/fd").c_str()));
  if (!dir) {
    Unreadable(task, errno);
    return true;
  }
  while (const dirent* entry = readdir(dir.get())) {
    if (entry->d_name[0] == '.') {
      continue;
    }
    if (++steps_ % kStepsOfABreath == 0 && !breath()) {
      return false;
    }
    AddDescriptor(task, entry->d_name, dirfd(dir.get()));
  }
  return true;
}

void NamelessFiles::AddDescriptor(const std::string& task, const std::string& number,
                                  int directory) {
  struct stat st {};
  if (fstatat(directory, number.c_str(), &st, 0) != 0) {
    if (!Gone(errno)) {
      Unreadable(task, errno);
    }
  } else if (S_ISREG(st.st_mode) && st.st_nlink == 0) {
    Take(st, task + "/fd/" + number);
  } else if (S_ISSOCK(st.st_mode) && HoldsDescriptors(task, number)) {
    whole_ = false;
  }
}

void NamelessFiles::Take(const struct stat& st, const std::string& path) {
  if (Counts(st.st_dev) && (roots_.contains(st.st_dev) || !LiesInMemory(path)) &&
      seen_.emplace(st.st_dev, st.st_ino).second) {
    bytes_ += static_cast<std::uint64_t>(st.st_blocks) * kBlock;
  }
}

// A program stays even when no part of it is mapped any more.
void NamelessFiles::AddProgram(const std::string& task) {
  struct stat st {};
  const std::string path = task + "/exe";
  if (stat(path.c_str(), &st) != 0) {
    Unreadable(task, errno);
  } else if (S_ISREG(st.st_mode) && st.st_nlink == 0) {
    Take(st, path);
  }
}

// A mapping tells nothing of the blocks of its file. Where device numbers differ from those of
// stat(2) (btrfs, overlayfs), a file that was counted by its descriptor is not known again.
bool NamelessFiles::AddMaps(const std::string& task, const Breath& breath) {
  const auto text = ReadPath(task + "/maps", kMaxMaps);
  if (!text) {
    Unreadable(task, text.error().os_errno);
    return true;
  }
  for (const auto line : Split(*text, '\n')) {
    if (++steps_ % kStepsOfABreath == 0 && !breath()) {
      return false;
    }
    unsigned major_number = 0;
    unsigned minor_number = 0;
    ino_t inode = 0;
    if (line.ends_with(" (deleted)") &&
        sscanf(std::string(line.substr(0, 256)).c_str(), "%*x-%*x %*s %*x %x:%x %lu", &major_number,
               &minor_number, &inode) == 3) {
      const dev_t device = makedev(major_number, minor_number);
      if (Counts(device) && !seen_.contains({device, inode})) {
        whole_ = false;
      }
    }
  }
  return true;
}

}  // namespace maco::run

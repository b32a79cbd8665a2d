// A walk by several threads, directory by directory.
// Contract: maco-worktree/lane_look.h.
#include "maco-worktree/lane_look.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <ctime>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>

#include "libcommon/os/directory.h"

namespace maco::worktree {
namespace {

constexpr std::uint64_t kMaxEntries = 1'000'000;
constexpr std::size_t kMaxDepth = 256;
constexpr std::size_t kMaxFindings = 100;

struct CloseDir {
  void operator()(DIR* directory) const { closedir(directory); }
};

// ".git" in any spelling that some file system takes for it: letters of either case, trailing dots
// and blanks, the short name of Windows.
bool IsGitName(std::string_view name) {
  while (!name.empty() && (name.back() == '.' || name.back() == ' ')) {
    name.remove_suffix(1);
  }
  if (name.size() != 4 && name.size() != 5) {
    return false;
  }
  std::string lower;
  for (const char c : name) {
    lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return lower == ".git" || lower == "git~1";
}

bool IsSubmodule(const BaseIndex& index, std::size_t entry) {
  return (index.ModeOf(entry) & S_IFMT) == 0160000;
}

const char* KindName(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFIFO:
      return "is a FIFO";
    case S_IFSOCK:
      return "is a socket";
    case S_IFCHR:
    case S_IFBLK:
      return "is a device";
    default:
      return "is of no kind that git knows";
  }
}

// What one thread has seen.
struct Part {
  std::vector<Finding> findings;
  std::vector<Seen> changed;
  std::vector<Seen> fresh;
  std::optional<Error> error;
};

// The directories that are still to be read. It is over when none is left and none is being read.
class Agenda {
 public:
  void Add(std::vector<std::string> directories) {
    const std::lock_guard lock(mutex_);
    if (ended_) {
      return;
    }
    std::ranges::move(directories, std::back_inserter(waiting_));
    changed_.notify_all();
  }
  // Ends the turn of the one that Next gave before.
  std::optional<std::string> Next(bool had_one) {
    std::unique_lock lock(mutex_);
    busy_ -= had_one ? 1 : 0;
    changed_.wait(lock, [this] { return !waiting_.empty() || busy_ == 0; });
    if (waiting_.empty()) {
      changed_.notify_all();
      return std::nullopt;
    }
    std::string next = std::move(waiting_.back());
    waiting_.pop_back();
    ++busy_;
    return next;
  }
  // What was found is enough for a no: nothing more is read.
  void End() {
    const std::lock_guard lock(mutex_);
    waiting_.clear();
    ended_ = true;
  }
  // Counts what was met; false: enough.
  bool Count(std::uint64_t entries, std::size_t findings) {
    const std::lock_guard lock(mutex_);
    entries_ += entries;
    findings_ += findings;
    return !ended_ && entries_ <= kMaxEntries && findings_ < kMaxFindings;
  }
  bool TooMany() const { return entries_ > kMaxEntries; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> waiting_;
  int busy_ = 0;
  bool ended_ = false;
  std::uint64_t entries_ = 0;
  std::size_t findings_ = 0;
};

class Walker {
 public:
  // `met`: becomes 1 for each entry of the index; no two walkers meet the same one.
  Walker(const Directory& top, const BaseIndex& index, bool nothing_believed, Agenda& agenda,
         std::vector<char>& met)
      : top_(top), index_(index), nothing_believed_(nothing_believed), agenda_(agenda), met_(met) {}

  void Run() {
    for (auto next = agenda_.Next(false); next; next = agenda_.Next(true)) {
      below_.clear();
      entries_ = 0;
      const std::size_t found = part_.findings.size();
      if (auto read = Read(*next); !read) {
        part_.error = std::move(read).error();
        agenda_.End();
      }
      if (!agenda_.Count(entries_, part_.findings.size() - found)) {
        agenda_.End();
      } else {
        agenda_.Add(std::move(below_));
      }
    }
  }
  Part& part() { return part_; }

 private:
  Result<void> Read(const std::string& path) {
    if (static_cast<std::size_t>(std::ranges::count(path, '/')) >= kMaxDepth) {
      return Found(path, "is nested deeper than 256 directories");
    }
    auto directory = path.empty() ? top_.Clone() : top_.Open(path);
    if (!directory) {
      return Found(path, directory.error().os_errno == EXDEV ? "is another file system"
                                                             : "cannot be opened");
    }
    UniqueFd copy(fcntl(directory->fd(), F_DUPFD_CLOEXEC, 0));
    const std::unique_ptr<DIR, CloseDir> stream(copy.valid() ? fdopendir(copy.get()) : nullptr);
    if (!stream) {
      return FailOs(errno, "read the directory", path);
    }
    copy.Release();
    rewinddir(stream.get());
    const auto entry = path.empty() ? std::nullopt : index_.Find(path);
    const bool submodule = entry && IsSubmodule(index_, *entry);
    errno = 0;
    while (const dirent* name = Enough() ? nullptr : readdir(stream.get())) {
      const std::string_view text = name->d_name;
      if (text != "." && text != ".." && !(path.empty() && text == ".git")) {
        if (submodule) {
          return Found(path, "is a submodule, and there is something in its directory");
        }
        MACO_TRY(Meet(*directory, path, name->d_name, name->d_type));
      }
      errno = 0;
    }
    return errno == 0 ? Result<void>() : FailOs(errno, "read the directory", path);
  }

  Result<void> Meet(const Directory& directory, const std::string& prefix, const char* name,
                    unsigned char type) {
    ++entries_;
    std::string& path = path_;
    path = prefix;
    path += prefix.empty() ? "" : "/";
    path += name;
    if (IsGitName(name)) {
      return Found(path, prefix.empty() ? "is another spelling of '.git'"
                                        : "makes its directory a repository of its own");
    }
    Seen seen;
    if (type != DT_DIR && fstatat(directory.fd(), name, &seen.st, AT_SYMLINK_NOFOLLOW) != 0) {
      return FailOs(errno, "look at", path);
    }
    if (type == DT_DIR || S_ISDIR(seen.st.st_mode)) {
      return MeetDirectory(path);
    }
    if (!S_ISREG(seen.st.st_mode) && !S_ISLNK(seen.st.st_mode)) {
      return Found(path, KindName(seen.st.st_mode));
    }
    const auto entry = index_.Find(path);
    if (entry) {
      met_[*entry] = 1;
      if (!nothing_believed_ && index_.IsUnchanged(*entry, seen.st)) {
        return {};
      }
    }
    seen.path = path;
    (entry ? part_.changed : part_.fresh).push_back(std::move(seen));
    return {};
  }

  // One in the place of a submodule must be empty; one in the place of a file is new.
  Result<void> MeetDirectory(const std::string& path) {
    const auto entry = index_.Find(path);
    if (entry && IsSubmodule(index_, *entry)) {
      met_[*entry] = 1;
    } else if (!index_.HasBelow(path)) {
      part_.fresh.push_back({path + "/", {}});
    }
    below_.push_back(path);
    return {};
  }

  bool Enough() const { return entries_ > kMaxEntries || part_.findings.size() >= kMaxFindings; }

  Result<void> Found(const std::string& path, const char* what) {
    part_.findings.push_back({path, what});
    return {};
  }

  const Directory& top_;
  const BaseIndex& index_;
  bool nothing_believed_;
  Agenda& agenda_;
  std::vector<char>& met_;
  Part part_;
  std::vector<std::string> below_;  // directories that were met in the one that is being read
  std::string path_;                // of what is met now
  std::uint64_t entries_ = 0;
};

template <typename T>
void Append(std::vector<T>&& from, std::vector<T>& to) {
  std::ranges::move(from, std::back_inserter(to));
}

// All parts as one, in an order that does not depend on who read what.
Look Join(std::vector<Walker>& walkers, const BaseIndex& index, const std::vector<char>& met) {
  Look out;
  for (auto& walker : walkers) {
    Part& part = walker.part();
    Append(std::move(part.findings), out.findings);
    Append(std::move(part.changed), out.changed);
    Append(std::move(part.fresh), out.fresh);
  }
  for (std::size_t i = 0; i < met.size(); ++i) {
    if (met[i] == 0) {
      out.gone.emplace_back(index.PathOf(i));
    }
  }
  std::ranges::sort(out.findings, {}, &Finding::path);
  out.findings.resize(std::min(out.findings.size(), kMaxFindings));
  std::ranges::sort(out.changed, {}, &Seen::path);
  std::ranges::sort(out.fresh, {}, &Seen::path);
  return out;
}

timespec CoarseNow() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return now;
}

bool IsBefore(const timespec& one, const timespec& other) {
  return one.tv_sec != other.tv_sec ? one.tv_sec < other.tv_sec : one.tv_nsec < other.tv_nsec;
}

constexpr long kNanos = 1'000'000'000;

// As file systems have it that keep no parts of seconds.
bool InWholeSeconds(const timespec& time) { return time.tv_nsec == 0; }

bool Same(const timespec& one, const timespec& other) {
  return !IsBefore(one, other) && !IsBefore(other, one);
}

}  // namespace

bool Seen::operator==(const Seen& other) const {
  return path == other.path && st.st_dev == other.st.st_dev && st.st_ino == other.st.st_ino &&
         st.st_mode == other.st.st_mode && st.st_size == other.st.st_size &&
         Same(st.st_ctim, other.st.st_ctim) && Same(st.st_mtim, other.st.st_mtim);
}

Result<Look> LookAtLane(const std::string& path, const BaseIndex& index, bool nothing_believed) {
  constexpr unsigned kMaxThreads = 8;
  Directory top;
  MACO_ASSIGN(top, Directory::OpenPath(path));
  const timespec began = CoarseNow();
  Agenda agenda;
  agenda.Add({""});
  const unsigned count = std::clamp(std::thread::hardware_concurrency(), 1U, kMaxThreads);
  std::vector<char> met(index.size());
  std::vector<Walker> walkers;
  walkers.reserve(count);
  for (unsigned i = 0; i < count; ++i) {
    walkers.emplace_back(top, index, nothing_believed, agenda, met);
  }
  std::vector<std::thread> threads;
  for (auto& walker : walkers) {
    threads.emplace_back([&walker] { walker.Run(); });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  for (auto& walker : walkers) {
    if (walker.part().error) {
      return Fail(*std::move(walker.part().error));
    }
  }
  Look out = Join(walkers, index, met);
  out.began = began;
  if (agenda.TooMany()) {
    out.findings.push_back({"", "the lane has more than a million entries"});
  }
  return out;
}

bool ShowsChanges(const Look& look, const std::vector<const Seen*>& files) {
  const timespec now = CoarseNow();
  return std::ranges::none_of(files, [&](const Seen* file) {
    const timespec& changed = file->st.st_ctim;
    return InWholeSeconds(changed)
               ? changed.tv_sec >= look.began.tv_sec && changed.tv_sec <= now.tv_sec
               : !IsBefore(changed, look.began) && !IsBefore(now, changed);
  });
}

void WaitUntilOlder(const std::vector<const Seen*>& files) {
  constexpr long kMilli = 1'000'000;
  const timespec now = CoarseNow();
  timespec newest{};
  for (const Seen* file : files) {
    timespec changed = file->st.st_ctim;
    if (IsBefore(now, changed)) {
      continue;  // a clock that went back: any change gives it an earlier time
    }
    if (InWholeSeconds(changed)) {
      changed.tv_nsec = kNanos - 1;
    }
    newest = IsBefore(newest, changed) ? changed : newest;
  }
  while (!IsBefore(newest, CoarseNow())) {
    const timespec pause{0, kMilli};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace maco::worktree

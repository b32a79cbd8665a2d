// Uses up what the machine has: processes, memory in all its forms, descriptors, files, a core
// dump. "worked" means that it got more than the limit under test. Parameters: count=, mib=, dir=.
// Frame: tests/hostile/attempt.h.
#include <fcntl.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "tests/hostile/attempt.h"

namespace {

using hostile::Number;
using hostile::Parameter;

constexpr std::size_t kMiB = 1UL << 20U;

int ForkBomb() {
  std::vector<pid_t> children;
  int result = 0;
  while (result == 0 && children.size() < static_cast<std::size_t>(Number("count"))) {
    const pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      pause();
      _exit(0);
    }
    child < 0 ? static_cast<void>(result = errno) : children.push_back(child);
  }
  for (const pid_t child : children) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  return result;
}

void Touch(char* memory, std::size_t size) {
  for (std::size_t at = 0; at < size; at += 4096) {
    memory[at] = 1;
  }
}

int Memory() {
  const std::size_t size = static_cast<std::size_t>(Number("mib")) * kMiB;
  void* const memory =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return errno;
  }
  Touch(static_cast<char*>(memory), size);
  munmap(memory, size);
  return 0;
}

// Each child alone stays small.
int MemoryOfMany() {
  std::vector<pid_t> children;
  int ready[2];
  if (pipe(ready) != 0) {
    return errno;
  }
  constexpr int kPart = 8;
  const auto count = static_cast<std::size_t>(Number("mib") / kPart);
  for (std::size_t i = 0; i < count; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      char* const part = static_cast<char*>(malloc(kPart * kMiB));
      Touch(part, kPart * kMiB);
      [[maybe_unused]] const long told = write(ready[1], "r", 1);
      pause();
      _exit(0);
    }
    children.push_back(child);
  }
  close(ready[1]);
  std::size_t alive = 0;
  char one = 0;
  while (alive < count && read(ready[0], &one, 1) == 1) {
    ++alive;
  }
  for (const pid_t child : children) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  return alive == count ? 0 : ENOMEM;
}

int Fill(int fd) {
  const std::vector<char> part(kMiB, 'x');
  for (long i = 0; i < Number("mib"); ++i) {
    if (write(fd, part.data(), part.size()) != static_cast<long>(part.size())) {
      return errno == 0 ? ENOSPC : errno;
    }
  }
  return 0;
}

int MemoryFile() {
  const int fd = memfd_create("hostile", MFD_CLOEXEC);
  const int result = fd < 0 ? errno : Fill(fd);
  close(fd);
  return result;
}

// Signals of exceeded limits are what is under test, so they become errors.
int BigFile() {
  signal(SIGXFSZ, SIG_IGN);
  const std::string name = Parameter("dir") + "/hostile-big";
  const int fd = open(name.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  errno = 0;
  const int result = fd < 0 ? errno : Fill(fd);
  close(fd);
  unlink(name.c_str());
  return result;
}

int ManyFiles() {
  int result = 0;
  long made = 0;
  const std::string prefix = Parameter("dir") + "/hostile-";
  for (; result == 0 && made < Number("count"); ++made) {
    const int fd = open((prefix + std::to_string(made)).c_str(), O_CREAT | O_WRONLY, 0600);
    fd < 0 ? static_cast<void>(result = errno) : static_cast<void>(close(fd));
  }
  for (long i = 0; i < made; ++i) {
    unlink((prefix + std::to_string(i)).c_str());
  }
  return result;
}

int Descriptors() {
  rlimit64 limit{};
  getrlimit64(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit64(RLIMIT_NOFILE, &limit);
  std::vector<int> open_ones;
  int result = 0;
  while (result == 0 && open_ones.size() < static_cast<std::size_t>(Number("count"))) {
    const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    fd < 0 ? static_cast<void>(result = errno) : open_ones.push_back(fd);
  }
  for (const int fd : open_ones) {
    close(fd);
  }
  return result;
}

// In pipes that nobody reads.
int Pipes() {
  std::vector<int> ends;
  int result = 0;
  const std::vector<char> part(65536, 'x');
  for (long i = 0; result == 0 && i < Number("mib") * 16; ++i) {
    int both[2];
    if (pipe2(both, O_NONBLOCK | O_CLOEXEC) != 0) {
      result = errno;
      break;
    }
    ends.insert(ends.end(), {both[0], both[1]});
    if (write(both[1], part.data(), part.size()) < 0) {
      result = errno;
    }
  }
  for (const int fd : ends) {
    close(fd);
  }
  return result;
}

// Descriptors on their way in sockets: the kernel counts those of a user. Holds them for hold= s.
int InFlight() {
  const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  constexpr long kBatch = 250;  // SCM_MAX_FD is 253
  int result = 0;
  for (long sent = 0; result == 0 && sent < Number("count"); sent += kBatch) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
      return errno;
    }
    std::vector<int> many(static_cast<std::size_t>(std::min(kBatch, Number("count") - sent)), fd);
    std::vector<char> control(CMSG_SPACE(many.size() * sizeof(int)));
    char byte = 'x';
    iovec data{&byte, 1};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(many.size() * sizeof(int));
    memcpy(CMSG_DATA(head), many.data(), many.size() * sizeof(int));
    result = hostile::Outcome(sendmsg(ends[0], &message, MSG_DONTWAIT));
  }
  [[maybe_unused]] const long told = write(STDERR_FILENO, "sent\n", 5);
  sleep(static_cast<unsigned>(Number("hold")));
  return result;
}

int InotifyInstances() {
  std::vector<int> open_ones;
  int result = 0;
  while (result == 0 && open_ones.size() < static_cast<std::size_t>(Number("count"))) {
    const int fd = inotify_init1(IN_CLOEXEC);
    fd < 0 ? static_cast<void>(result = errno) : open_ones.push_back(fd);
  }
  for (const int fd : open_ones) {
    close(fd);
  }
  return result;
}

int PendingSignals() {
  return hostile::InChild([] {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    for (long i = 0; i < Number("count"); ++i) {
      if (sigqueue(getpid(), SIGRTMIN, {}) != 0) {
        return errno;
      }
    }
    return 0;
  });
}

int Core() {
  rlimit64 limit{RLIM64_INFINITY, RLIM64_INFINITY};
  if (setrlimit64(RLIMIT_CORE, &limit) != 0) {
    getrlimit64(RLIMIT_CORE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit64(RLIMIT_CORE, &limit);
  }
  const pid_t child = fork();
  if (child == 0) {
    if (chdir(Parameter("dir").c_str()) == 0) {
      abort();
    }
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WCOREDUMP(status) ? 0 : ENODATA;
}

int RaiseLimit(__rlimit_resource resource) {
  rlimit64 limit{};
  getrlimit64(resource, &limit);
  limit.rlim_max += 1;
  limit.rlim_cur = limit.rlim_max;
  return limit.rlim_max == 0 ? 0 : hostile::Outcome(setrlimit64(resource, &limit));
}

}  // namespace

int main(int argc, char** argv) {
  return hostile::RunAttempts(argc, argv,
                              {
                                  {"fork-bomb", ForkBomb},
                                  {"memory", Memory},
                                  {"memory-of-many", MemoryOfMany},
                                  {"memory-file", MemoryFile},
                                  {"temporary-file", BigFile},
                                  {"big-file", BigFile},
                                  {"many-files", ManyFiles},
                                  {"descriptors", Descriptors},
                                  {"pipes", Pipes},
                                  {"core", Core},
                                  {"in-flight", InFlight},
                                  {"inotify-instances", InotifyInstances},
                                  {"pending-signals", PendingSignals},
                                  {"raise-nofile", [] { return RaiseLimit(RLIMIT_NOFILE); }},
                                  {"raise-fsize", [] { return RaiseLimit(RLIMIT_FSIZE); }},
                                  {"raise-core", [] { return RaiseLimit(RLIMIT_CORE); }},
                              });
}

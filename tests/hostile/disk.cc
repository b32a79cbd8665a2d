// Takes disk space where it is hard to see: files without a name, held in unusual ways. Each writes
// mib= MiB below dir= and holds them for hold= seconds; "worked" means that nobody stopped it.
// Frame: tests/hostile/attempt.h.
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "tests/hostile/attempt.h"

namespace {

using hostile::Number;
using hostile::Parameter;

constexpr std::size_t kPiece = 1UL << 20U;

int Open(const std::string& name) {
  const int fd = open((Parameter("dir") + "/" + name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) {
    _exit(errno);
  }
  return fd;
}

void Remove(const std::string& name) { unlink((Parameter("dir") + "/" + name).c_str()); }

void Fill(int fd, long mib) {
  const std::vector<char> piece(kPiece, 'x');
  for (long i = 0; i < mib; ++i) {
    if (write(fd, piece.data(), piece.size()) != static_cast<long>(piece.size())) {
      _exit(errno == 0 ? ENOSPC : errno);
    }
  }
}

// Some programs look at every file of the tree in this time, and write the rest in it.
int Hold() {
  sleep(static_cast<unsigned>(Number("hold")));
  return 0;
}

int FillNameless() {
  const int fd = Open("nameless");
  Remove("nameless");
  Fill(fd, Number("mib"));
  return fd;
}

// The mapping is one page, the file is not.
int OnePageMapped() {
  const int fd = Open("page");
  if (ftruncate(fd, 4096) != 0 || mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED) {
    return errno;
  }
  Remove("page");
  Fill(fd, Number("mib"));
  close(fd);
  return Hold();
}

// In a map its name reads like that of a memory file.
int NamedLikeMemory() {
  mkdir((Parameter("dir") + "/a ").c_str(), 0700);
  const std::string name = "a /memfd:x";
  const int fd = Open(name);
  Fill(fd, Number("mib"));
  if (mmap(nullptr, static_cast<std::size_t>(Number("mib")) * kPiece, PROT_READ, MAP_SHARED, fd,
           0) == MAP_FAILED) {
    return errno;
  }
  Remove(name);
  close(fd);
  return Hold();
}

// The status of a process of its own, which any of its threads may end.
int InProcess(int (*attempt)()) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(attempt());
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD;
}

void* HoldInThread(void* own_table) {
  if (own_table != nullptr && unshare(CLONE_FILES) != 0) {
    _exit(errno);
  }
  FillNameless();
  _exit(Hold());
}

// Descriptors of one thread only.
int TableOfAThread() {
  return InProcess([]() -> int {
    pthread_t thread{};
    char own_table = 1;
    pthread_create(&thread, nullptr, HoldInThread, &own_table);
    pthread_join(thread, nullptr);
    return 0;
  });
}

// The first thread has ended: a zombie that leads a living process.
int EndedLeader() {
  return InProcess([]() -> int {
    pthread_t thread{};
    pthread_create(&thread, nullptr, HoldInThread, nullptr);
    pthread_exit(nullptr);
  });
}

// On its way in a socket, in nobody's table.
int InFlight() {
  const int fd = FillNameless();
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
    return errno;
  }
  char byte = 'x';
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fd)] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof fd);
  memcpy(CMSG_DATA(head), &fd, sizeof fd);
  if (sendmsg(ends[0], &message, 0) < 0) {
    return errno;
  }
  close(fd);
  return Hold();
}

// A process into which nobody may look.
int ClosedProcess() {
  prctl(PR_SET_DUMPABLE, 0);
  FillNameless();
  return Hold();
}

// Many descriptors, so that an exact look takes long; then it writes as fast as it can.
int LongLook() {
  for (long process = 0; process < Number("processes"); ++process) {
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (long i = 0; i < Number("count"); ++i) {
        open("/dev/null", O_RDONLY);
      }
      pause();
      _exit(0);
    }
  }
  sleep(2);
  for (long i = 0; i < Number("mib") / 8; ++i) {
    const int fd = Open("long-" + std::to_string(i));
    Fill(fd, 8);
    close(fd);
  }
  return Hold();
}

}  // namespace

int main(int argc, char** argv) {
  return hostile::RunAttempts(argc, argv,
                              {
                                  {"one-page-mapped", OnePageMapped},
                                  {"named-like-memory", NamedLikeMemory},
                                  {"table-of-a-thread", TableOfAThread},
                                  {"ended-leader", EndedLeader},
                                  {"in-flight", InFlight},
                                  {"closed-process", ClosedProcess},
                                  {"long-look", LongLook},
                              });
}

// Leaves processes behind in every way that tends to be forgotten; each writes a file after a
// while. usage: survivor DIR SECONDS. The files' names say how. It returns at once, with status 0.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

namespace {

std::string directory;
unsigned seconds = 0;

void IgnoreAll() {
  for (int number = 1; number < NSIG; ++number) {
    signal(number, SIG_IGN);
  }
}

void CloseAll() {
  for (int fd = 0; fd < 256; ++fd) {
    close(fd);
  }
}

void WriteLate(const char* name) {
  const std::string path = directory + "/" + name;
  sleep(seconds);
  close(open(path.c_str(), O_CREAT | O_WRONLY, 0600));
  _exit(0);
}

// Runs `prepare` in a child that then waits and writes.
void Leave(const char* name, const std::function<void()>& prepare) {
  if (fork() == 0) {
    prepare();
    WriteLate(name);
  }
}

void DoubleFork() {
  if (fork() != 0) {
    _exit(0);
  }
}

// Is gone from its own number every second: a new process each time.
void Runner(const char* name) {
  if (fork() != 0) {
    return;
  }
  setsid();
  for (unsigned i = 0; i < seconds; ++i) {
    sleep(1);
    DoubleFork();
  }
  WriteLate(name);
}

// A file that is open before the end and written after it.
void DelayedWriter() {
  const int fd = open((directory + "/opened-before").c_str(), O_CREAT | O_WRONLY, 0600);
  if (fork() == 0) {
    IgnoreAll();
    sleep(seconds);
    [[maybe_unused]] const long n = write(fd, "late", 4);
    _exit(0);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    return 64;
  }
  directory = argv[1];
  seconds = static_cast<unsigned>(atoi(argv[2]));
  Leave("child", [] {});
  Leave("double-fork", DoubleFork);
  Leave("session", [] { setsid(); });
  Leave("daemon", [] {
    setsid();
    DoubleFork();
    CloseAll();
  });
  Leave("group", [] { setpgid(0, 0); });
  Leave("ignores-signals", IgnoreAll);
  Leave("closed-stdio", CloseAll);
  Leave("renamed", [] { prctl(PR_SET_NAME, "init"); });
  Leave("stopped", [] {
    // Continued by the orphan's kernel, or killed while stopped.
    if (fork() == 0) {
      const pid_t parent = getppid();
      usleep(100'000);
      kill(parent, SIGCONT);
      _exit(0);
    }
    raise(SIGSTOP);
  });
  Runner("runner");
  DelayedWriter();
  puts("started");
  return 0;
}

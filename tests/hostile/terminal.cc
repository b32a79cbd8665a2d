// Types into the user's terminal, takes it over, or writes on it.
// Parameters: pts= a terminal of the user. Frame: tests/hostile/attempt.h.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>

#include "tests/hostile/attempt.h"

namespace {

using hostile::CloseAfter;
using hostile::Outcome;
using hostile::Parameter;

constexpr unsigned long kHighBit = 1UL << 32U;

int Request(int fd, unsigned long request) { return Outcome(syscall(SYS_ioctl, fd, request, " ")); }

int OnTty(const std::string& path, const std::function<int(int)>& call) {
  const int fd = open(path.c_str(), O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) {
    return errno;
  }
  const int result = call(fd);
  close(fd);
  return result;
}

// A terminal of its own, which it may have; typing into it must fail all the same.
int OnOwn(const std::function<int(int)>& call) {
  const int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
  int number = -1;
  int unlock = 0;
  if (master < 0 || ioctl(master, TIOCSPTLCK, &unlock) != 0 ||
      ioctl(master, TIOCGPTN, &number) != 0) {
    return errno;
  }
  const int result = hostile::InChild([&] {
    setsid();
    return OnTty("/dev/pts/" + std::to_string(number), [&](int fd) {
      ioctl(fd, TIOCSCTTY, 0);
      return call(fd);
    });
  });
  close(master);
  return result;
}

// Another writer may have the terminal at the moment.
int Persist(int fd) {
  constexpr int kAttempts = 500;
  int result = EAGAIN;
  for (int i = 0; i < kAttempts && result == EAGAIN; ++i) {
    result = Outcome(write(fd, "", 1));
    usleep(10'000);
  }
  return result;
}

int Type(int fd) { return Request(fd, TIOCSTI); }
int TypeHigh(int fd) { return Request(fd, TIOCSTI | kHighBit); }

}  // namespace

int main(int argc, char** argv) {
  return hostile::RunAttempts(
      argc, argv,
      {
          {"input", [] { return Type(0); }},
          {"input-high-bits", [] { return TypeHigh(0); }},
          {"controlling", [] { return OnTty("/dev/tty", Type); }},
          {"controlling-high-bits", [] { return OnTty("/dev/tty", TypeHigh); }},
          {"own", [] { return OnOwn(Type); }},
          {"own-high-bits", [] { return OnOwn(TypeHigh); }},
          {"by-name", [] { return OnTty(Parameter("pts"), Type); }},
          {"write-by-name",
           [] { return OnTty(Parameter("pts"), [](int fd) { return Persist(fd); }); }},
          {"settings",
           [] {
             termios settings{};
             return tcgetattr(0, &settings) != 0 ? errno
                                                 : Outcome(tcsetattr(0, TCSANOW, &settings));
           }},
          {"foreground",
           [] { return OnTty("/dev/tty", [](int fd) { return Outcome(tcgetpgrp(fd)); }); }},
      });
}

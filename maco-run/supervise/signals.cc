// Blocking and reading of signals.
// Contract: maco-run/supervise/signals.h.
#include "maco-run/supervise/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>

namespace maco::run {

Result<SignalSource> SignalSource::Open() {
  SignalSource source;
  sigset_t mask;
  sigemptyset(&mask);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    sigaddset(&mask, number);
  }
  if (sigprocmask(SIG_BLOCK, &mask, &source.before_) != 0) {
    return FailOs(errno, "block signals");
  }
  signal(SIGPIPE, SIG_IGN);
  source.fd_ = UniqueFd(signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!source.fd_.valid()) {
    return FailOs(errno, "wait for signals");
  }
  return source;
}

SignalSource::~SignalSource() {
  if (fd_.valid()) {
    sigprocmask(SIG_SETMASK, &before_, nullptr);
    signal(SIGPIPE, SIG_DFL);
  }
}

bool SignalSource::Restore() {
  bool came = false;
  while (Take() != 0) {
    came = true;
  }
  sigprocmask(SIG_SETMASK, &before_, nullptr);
  return came;
}

int SignalSource::Take() {
  signalfd_siginfo info{};
  return read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)
             ? static_cast<int>(info.ssi_signo)
             : 0;
}

}  // namespace maco::run

// SignalSource: SIGINT, SIGTERM, SIGHUP and SIGQUIT as readable events, for as long as the object
// lives. SIGPIPE is ignored meanwhile. Source: signalfd(2).
#pragma once
#include <signal.h>

#include "libcommon/base/result.h"
#include "libcommon/os/fd.h"

namespace maco::run {

class SignalSource {
 public:
  static Result<SignalSource> Open();  // kIo
  SignalSource(SignalSource&&) noexcept = default;
  SignalSource& operator=(SignalSource&&) = delete;
  ~SignalSource();

  int fd() const { return fd_.get(); }
  int Take();  // the number of a signal that came, 0 if none

  // Gives up early: what comes has its ordinary effect. Returns whether one had come.
  bool Restore();

 private:
  SignalSource() = default;
  UniqueFd fd_;
  sigset_t before_{};
};

}  // namespace maco::run

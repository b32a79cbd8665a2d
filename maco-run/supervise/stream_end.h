// StreamEnd: one of our standard streams, used without ever waiting for its other side.
// Others share its open file description, so its flags stay as they are. Sources: proc(5) on
// /proc/PID/fd, pipe(7), tty_ioctl(4).
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <span>

#include "libcommon/os/fd.h"

namespace maco::run {

class StreamEnd {
 public:
  enum class Use { kRead, kWrite };

  StreamEnd() = default;  // nowhere
  // Borrows `fd`. Of a terminal or pipe it opens a description of its own, where that can be had.
  StreamEnd(int fd, Use use);

  bool valid() const { return fd() >= 0; }
  int fd() const { return own_.valid() ? own_.get() : fd_; }  // for poll(2)

  // As read(2) and write(2), after poll(2) said that it is ready; EAGAIN if it is not so any more.
  ssize_t Read(std::span<std::uint8_t> out) const;
  ssize_t Write(std::span<const std::uint8_t> bytes) const;

 private:
  enum class Kind {
    kPlain,    // files and devices that make nobody wait
    kOwn,      // own_ does not block
    kSocket,   // asked not to wait with each call
    kBlocking  // a terminal or pipe without a description of its own
  };
  void Classify(Use use);

  int fd_ = -1;
  UniqueFd own_;
  Kind kind_ = Kind::kPlain;
};

}  // namespace maco::run

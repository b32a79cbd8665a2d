// Copying of input without waiting.
// Contract: maco-run/supervise/input.h.
#include "maco-run/supervise/input.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace maco::run {
namespace {

bool MayRead(int source) {
  if (fcntl(source, F_GETFD) < 0) {
    return false;
  }
  return isatty(source) == 0 || tcgetpgrp(source) == getpgrp();
}

}  // namespace

InputPump::InputPump(int source, UniqueFd sink) : sink_(std::move(sink)) {
  if (!MayRead(source)) {
    sink_.Reset();
    return;
  }
  source_ = StreamEnd(source, StreamEnd::Use::kRead);
  fcntl(sink_.get(), F_SETFL, O_NONBLOCK);
}

std::optional<OutputPump::Wait> InputPump::wait() const {
  if (!sink_.valid()) {
    return std::nullopt;
  }
  if (pending_.empty()) {
    return OutputPump::Wait{source_.fd(), POLLIN};
  }
  return OutputPump::Wait{sink_.get(), POLLOUT};
}

void InputPump::Step() {
  if (pending_.empty()) {
    std::array<std::uint8_t, 16384> buffer;
    const ssize_t n = source_.Read(buffer);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
      return;
    }
    if (n <= 0) {
      sink_.Reset();
      return;
    }
    pending_.assign(buffer.begin(), buffer.begin() + n);
    return;
  }
  const ssize_t n = write(sink_.get(), pending_.data(), pending_.size());
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
    return;
  }
  if (n < 0) {
    sink_.Reset();  // the target does not read any more
    return;
  }
  pending_.erase(pending_.begin(), pending_.begin() + n);
}

}  // namespace maco::run

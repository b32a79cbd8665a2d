// Copying of output without waiting.
// Contract: maco-run/supervise/output.h.
#include "maco-run/supervise/output.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace maco::run {
namespace {

constexpr std::size_t kPieceBytes = 65536;
constexpr Milliseconds kPatience{10'000};  // for a reader that stopped reading

}  // namespace

OutputPump::OutputPump(UniqueFd source, int destination, int log, std::uint64_t log_limit,
                       bool escape)
    : source_(std::move(source)),
      destination_(destination, StreamEnd::Use::kWrite),
      log_(log),
      log_limit_(log_limit),
      terminal_(escape ? std::optional<TerminalText>(TerminalText()) : std::nullopt) {
  fcntl(source_.get(), F_SETFL, O_NONBLOCK);  // our end only: a pipe's ends have flags of their own
}

std::optional<OutputPump::Wait> OutputPump::wait() const {
  if (!pending_.empty()) {
    return Wait{refused_ ? -1 : destination_.fd(), POLLOUT};
  }
  if (source_.valid()) {
    return Wait{source_.get(), POLLIN};
  }
  return std::nullopt;
}

void OutputPump::Step() {
  if (pending_.empty()) {
    ReadPiece();
  } else {
    WritePiece();
  }
}

bool OutputPump::ReadPiece() {
  std::array<std::uint8_t, kPieceBytes> buffer;
  const ssize_t n = read(source_.get(), buffer.data(), buffer.size());
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
    return false;
  }
  if (n <= 0) {
    source_.Reset();
    if (terminal_ && destination_.valid()) {
      const std::string rest = terminal_->Finish();
      pending_.assign(rest.begin(), rest.end());
    }
    if (pending_.empty()) {
      destination_ = StreamEnd();  // its reader may wait for our end of it
    }
    return false;
  }
  const std::span<const std::uint8_t> piece(buffer.data(), static_cast<std::size_t>(n));
  total_ += piece.size();
  sha256_.Update(piece);
  Log(piece);
  if (destination_.valid() && terminal_) {
    const std::string shown = terminal_->Add(piece);
    pending_.assign(shown.begin(), shown.end());
  } else if (destination_.valid()) {
    pending_.assign(piece.begin(), piece.end());
  }
  return true;
}

void OutputPump::WritePiece() {
  const ssize_t n = destination_.Write(pending_);
  refused_ = n < 0 && errno == EAGAIN;
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
    return;
  }
  if (n < 0) {
    pending_.clear();
    destination_ = StreamEnd();
    source_.Reset();
    return;
  }
  pending_.erase(pending_.begin(), pending_.begin() + n);
  if (pending_.empty() && !source_.valid()) {
    destination_ = StreamEnd();
  }
}

void OutputPump::Log(std::span<const std::uint8_t> bytes) {
  const std::uint64_t room = log_limit_ - logged_;
  bytes = bytes.first(std::min<std::uint64_t>(room, bytes.size()));
  if (bytes.empty() || log_failed_) {
    return;
  }
  if (WriteAll(log_, bytes)) {
    logged_ += bytes.size();
  } else {
    log_failed_ = true;  // disk full: the run goes on, the evidence says that the log is cut
  }
}

void OutputPump::Finish() {
  auto deadline = Monotonic::now() + kPatience;
  while (source_.valid() || !pending_.empty()) {
    if (pending_.empty()) {
      if (!ReadPiece()) {
        source_.Reset();
      }
      deadline = Monotonic::now() + kPatience;
      continue;
    }
    if (Monotonic::now() >= deadline) {
      pending_.clear();
      destination_ = StreamEnd();
      gave_up_ = true;
      continue;
    }
    const auto next = refused_ ? std::min(deadline, Monotonic::now() + kRetry) : deadline;
    pollfd ready{refused_ ? -1 : destination_.fd(), POLLOUT, 0};
    poll(&ready, 1, PollMillis(next));
    if (ready.revents == 0 && !refused_) {
      continue;
    }
    const std::size_t before = pending_.size();
    WritePiece();
    if (pending_.size() < before) {
      deadline = Monotonic::now() + kPatience;
    }
  }
  destination_ = StreamEnd();
}

}  // namespace maco::run
